"""Keeping the child processes alive, and ending them in order.

Invariants: everything here runs in the main thread; a child that ends by itself is started again, each time a little
later (0.5 s to 30 s, forgiven after a minute of life); a stop has a bound, after which what is left is killed; the
database is the last to go.
"""

import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field

Say = Callable[[str], None]

BACKOFF_FIRST, BACKOFF_MOST, FORGIVEN_AFTER = 0.5, 30.0, 60.0


class Stopped(BaseException):
    """A signal asked to stop while things were still being started."""


@dataclass
class Child:
    """One process to keep alive. `prepare` runs before each restart (not the first start)."""

    name: str
    start: Callable[[], subprocess.Popen[bytes]]
    stop_signal: int = signal.SIGTERM
    stop_seconds: float = 60.0
    prepare: Callable[[], None] = lambda: None
    last: bool = False
    """Stopped only when all others have ended (the services)."""
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    failures: int = 0
    due: float | None = field(default=None)

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    @property
    def pid(self) -> int | None:
        """The process id of its latest process."""
        return self.process.pid if self.process else None

    def run(self, now: float) -> None:
        """Start it now."""
        self.process, self.started, self.due = self.start(), now, None

    def adopt(self, process: subprocess.Popen[bytes]) -> None:
        """Keep alive a process that runs already."""
        self.process, self.started = process, time.monotonic()


class Signals:
    """SIGINT, SIGTERM and SIGHUP counted; the main loop is woken by them and by a child's end."""

    def __init__(self) -> None:
        self.count = 0
        self.raising = True
        self._reader, self._writer = socket.socketpair()
        self._reader.setblocking(False)
        self._writer.setblocking(False)

    def install(self) -> None:
        """Take over the signals of this process. A hang-up that was ignored (nohup) stays ignored."""
        signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._asked)
        if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
            signal.signal(signal.SIGHUP, self._asked)

    def _asked(self, number: int, frame: object) -> None:
        self.count += 1
        if self.raising:
            self.raising = False
            raise Stopped

    def wait(self, seconds: float) -> None:
        """Sleep until a signal, a child's end, or *seconds* have passed."""
        ready, _, _ = select.select([self._reader], [], [], max(0.0, seconds))
        if ready:
            self._reader.recv(4096)


class Supervisor:
    """The children of `up`: started, watched, started again, stopped."""

    def __init__(self, say: Say, signals: Signals) -> None:
        self.say = say
        self.signals = signals
        self.children: list[Child] = []

    def add(self, child: Child) -> None:
        """Watch *child*; starts it unless it runs already."""
        if child.process is None:
            child.run(time.monotonic())
        self.children.append(child)

    def pids(self, prefix: str) -> list[int]:
        """The process ids of the living children whose names begin with *prefix*."""
        return [c.process.pid for c in self.children if c.name.startswith(prefix) and c.process is not None and c.alive]

    def look(self) -> float:
        """Start again what has ended and is due; returns the seconds until there may be something to do."""
        now, wait = time.monotonic(), 5.0
        for child in self.children:
            if child.alive:
                continue
            if child.due is None:
                self._schedule(child, now)
            if child.due is not None and child.due <= now:
                self._again(child)
            if child.due is not None:
                wait = min(wait, child.due - now)
        return wait

    def _schedule(self, child: Child, now: float) -> None:
        child.failures = 1 if now - child.started > FORGIVEN_AFTER else child.failures + 1
        delay = min(BACKOFF_FIRST * 2 ** (child.failures - 1), BACKOFF_MOST)
        child.due = now + delay
        self.say(f"{child.name} ended ({_how(child)}) and starts again in {delay:g} s")

    def _again(self, child: Child) -> None:
        try:
            child.prepare()
            child.run(time.monotonic())
        except Exception as error:  # noqa: BLE001 - whatever it is, the others must go on and it is tried again
            child.started = time.monotonic()
            self.say(f"{child.name} could not be started: {error}")
            self._schedule(child, child.started)
            return
        self.say(f"{child.name} started again (process {child.pid})")

    def watch(self) -> None:
        """Keep all alive until a signal asks to stop."""
        while not self.signals.count:
            self.signals.wait(self.look())

    def stop(self) -> None:
        """Stop all, the services last. A second signal ends the waiting at once."""
        self.signals.raising = False
        first = [child for child in self.children if not child.last and child.alive]
        if first:
            most = max(child.stop_seconds for child in first)
            self.say(f"stopping; work in hand may take up to {most:.0f} s more, Ctrl-C again ends it at once")
        _end(first, self._hurry, self.say)
        for child in self.children:
            if child.last and child.alive:
                _end([child], lambda: False, self.say)

    def _hurry(self) -> bool:
        self.signals.wait(0.05)
        return self.signals.count > 1


def _how(child: Child) -> str:
    code = child.process.poll() if child.process else None
    if code is None:
        return "not running"
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def _end(children: list[Child], hurry: Callable[[], bool], say: Say) -> None:
    begun = time.monotonic()
    for child in children:
        if child.process:
            child.process.send_signal(child.stop_signal)
    while left := [child for child in children if child.alive]:
        if hurry() or all(time.monotonic() - begun > child.stop_seconds for child in left):
            break
        time.sleep(0.01)
    for child in children:
        if child.alive and child.process:
            say(f"{child.name} did not end in time and is killed")
            child.process.kill()
    for child in children:
        if child.process:
            child.process.wait()


def child_environment(name: str, more: dict[str, str]) -> dict[str, str]:
    """What a process of ours gets: our environment, its own name for the log, and *more*."""
    return {**os.environ, "LAYBY_PROCESS": name, "PYTHONUNBUFFERED": "1", **more}
