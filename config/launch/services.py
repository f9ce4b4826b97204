"""Both embedded services of one data folder: who may start them, in which order, for how long.

Invariants: one process at a time holds the data folder (`flock`, which the kernel releases however the holder ends);
a service that the environment names (DATABASE_URL, REDIS_URL) is never started; a command that found services running
keeps the starter from stopping them under it, unless the starter is `up`, which goes when told.
"""

import fcntl
import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from config.launch import folders, places
from config.launch.children import LaunchError, service_account
from config.launch.postgres import START_SECONDS, Postgres
from config.launch.valkey import Valkey

Service = Postgres | Valkey
Say = Callable[[str], None]


class Lock:
    """The right to start services on a data folder; `holder` tells who has it."""

    def __init__(self, data: Path) -> None:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path = data / "lock"
        self._file: IO[str] | None = None

    def take(self, command: str) -> bool:
        """Take it for *command*; False if somebody else has it."""
        file = self.path.open("a+")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            return False
        file.truncate(0)
        file.write(json.dumps({"pid": os.getpid(), "command": command}))
        file.flush()
        self._file = file
        return True

    def holder(self) -> dict[str, Any]:
        """Who has it: {pid, command}; empty while that is being written."""
        try:
            found: dict[str, Any] = json.loads(self.path.read_text())
        except (OSError, ValueError):
            return {}
        return found

    def give_back(self) -> None:
        """Let others start services here."""
        if self._file:
            self._file.truncate(0)
            self._file.close()
            self._file = None


class Services:
    """The embedded services that the environment doesn't name, as one thing to start and stop."""

    def __init__(self, data: Path, say: Say, *, throwaway: bool = False) -> None:
        self.data = data
        self.say = say
        self.throwaway = throwaway
        self.running: list[tuple[Service, subprocess.Popen[bytes]]] = []

    def start(self) -> dict[str, str]:
        """Start them side by side and wait until both can be used; returns DATABASE_URL and REDIS_URL.

        Raises LaunchError with the reason. Called by the main thread while holding the data folder's lock.
        """
        urls = {name: os.environ[name] for name in ("DATABASE_URL", "REDIS_URL") if os.environ.get(name)}
        if len(urls) == 2:
            return urls
        self.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        account = service_account()
        sockets = folders.sockets(self.data, account)
        wanted: list[Service] = []
        if "DATABASE_URL" not in urls:
            wanted.append(Postgres(self.data, sockets, account, throwaway=self.throwaway))
        if "REDIS_URL" not in urls:
            wanted.append(Valkey(self.data, sockets, account, throwaway=self.throwaway))
        for service in reversed(wanted):  # the broker is up while the database is still being made
            service.end_leftovers(self.say)
            done = service.prepare()
            self.running.append((service, service.start()))
            self.say(done)
        for index, (service, process) in enumerate(self.running):
            self.running[index] = (service, wait_ready(service, process, self.say))
            self.say(f"{service.name} ready (process {self.running[index][1].pid})")
        return {
            "DATABASE_URL": places.database_url(sockets),
            "REDIS_URL": places.redis_url(sockets),
        } | urls

    def stop(self) -> None:
        """Stop them, the database last; each within its bound, then it is killed."""
        for service, process in self.running:
            stop_process(process, service.stop_signals)
        self.running.clear()
        self.forget()

    def forget(self) -> None:
        """Leave nothing outside the data folder, once they have been stopped."""
        folders.remove_sockets(self.data)


def wait_ready(service: Service, process: subprocess.Popen[bytes], say: Say) -> subprocess.Popen[bytes]:
    """Wait until *service* can be used (60 s, a line every 5 s); returns its process.

    A broker that doesn't start on what it kept starts once more without it. Raises LaunchError with the last words.
    """
    begun = told = time.monotonic()
    while not service.ready():
        now = time.monotonic()
        if process.poll() is not None:
            if isinstance(service, Valkey) and service.forget():
                say("the broker could not read what it had kept and starts without it")
                process = service.start()
                continue
            raise LaunchError(f"{service.name} did not start. Its last words:\n{service.last_words()}")
        if now - begun > START_SECONDS:
            raise LaunchError(f"{service.name} was not ready after {START_SECONDS:.0f} s.\n{service.last_words()}")
        if now - told > 5:
            told = now
            say(f"{service.name} is still getting ready (after a crash it reads back what it had written)")
        time.sleep(0.05)
    return process


def stop_process(
    process: subprocess.Popen[bytes], steps: tuple[tuple[int, float], ...], hurry: Callable[[], bool] = lambda: False
) -> None:
    """Send each signal of *steps* and wait its seconds, then kill; *hurry* cuts the waiting short."""
    for number, seconds in steps:
        if process.poll() is not None:
            return
        process.send_signal(number)
        ends = time.monotonic() + seconds
        while process.poll() is None and time.monotonic() < ends and not hurry():
            time.sleep(0.02)
    if process.poll() is None:
        process.kill()
        process.wait()


def usable(data: Path) -> bool:
    """Whether the services of *data* (or those that the environment names) answer now."""
    sockets = places.socket_folder(data)
    checks: list[Service] = []
    if not os.environ.get("DATABASE_URL"):
        checks.append(Postgres(data, sockets, None))
    if not os.environ.get("REDIS_URL"):
        checks.append(Valkey(data, sockets, None))
    return all(service.answers() for service in checks)


class Use:
    """Services for as long as one command runs: those that run already, else embedded ones of its own."""

    def __init__(self, data: Path, command: str, say: Say) -> None:
        self.data = data
        self.command = command
        self.say = say
        self.lock = Lock(data)
        self.services: Services | None = None
        self._users: IO[str] | None = None

    def __enter__(self) -> None:
        ends = time.monotonic() + START_SECONDS
        while True:
            if self.lock.take(self.command):
                self.services = Services(self.data, lambda text: None)
                try:
                    self.services.start()
                except BaseException:
                    self.__exit__()
                    raise
                return
            if usable(self.data):
                # Asked again under the shared lock: the starter may have been about to stop them.
                self._users = (self.data / "users.lock").open("a")
                fcntl.flock(self._users, fcntl.LOCK_SH)
                if usable(self.data):
                    return
                self._users.close()
            if time.monotonic() > ends:
                holder = self.lock.holder()
                raise LaunchError(
                    f"`manage.py {holder.get('command', '')}` (process {holder.get('pid', '?')}) holds {self.data},"
                    " but its services don't answer."
                )
            time.sleep(0.1)

    def __exit__(self, *exc: object) -> None:
        if self._users:
            self._users.close()
        if self.services:
            with (self.data / "users.lock").open("a") as users:
                try:
                    fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    self.say("waiting for other commands that use the same services")
                    fcntl.flock(users, fcntl.LOCK_EX)
                self.services.stop()
                self.lock.give_back()
