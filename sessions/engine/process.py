"""One worker process: its identity, its heartbeat, and which sessions its threads drive.

The heartbeat has its own thread and connection, so that a busy pool cannot starve it; a body starts only while
monotonic time is inside the last heartbeat's lease, so that a process frozen past it starts nothing.
"""

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID, uuid4

from django.conf import settings

from sessions.engine.sql import execute, fetch

BEAT = """/* process.beat */
INSERT INTO agent_sessions_worker (boot_id, host, host_boot, pid, pid_started, slots, busy, held, lost_threads,
    started_at, alive_until, stopping)
VALUES (%(boot)s, %(host)s, %(host_boot)s, %(pid)s, %(pid_started)s, %(slots)s, %(busy)s, %(busy)s, 0,
    clock_timestamp(), clock_timestamp() + make_interval(secs => %(lease)s), %(stopping)s)
ON CONFLICT (boot_id) DO UPDATE SET alive_until = EXCLUDED.alive_until, busy = EXCLUDED.busy, held = EXCLUDED.held,
    stopping = EXCLUDED.stopping"""

GONE = "/* process.gone */ DELETE FROM agent_sessions_worker WHERE boot_id = %s"

PEERS = """/* process.peers */
SELECT boot_id, host, host_boot, pid, pid_started FROM agent_sessions_worker WHERE boot_id <> %s"""

# A worker that has been dead for a day holds nothing any more.
FORGET = (
    "/* process.forget */ DELETE FROM agent_sessions_worker WHERE alive_until < clock_timestamp() - interval '1 day'"
)


class Process:
    """This process as a worker. `slots` is how many sessions it drives at once."""

    def __init__(self, slots: int) -> None:
        self.boot_id: UUID = uuid4()
        self.slots = slots
        self.stopping = threading.Event()
        self._lock = threading.Lock()
        # By lease, not by session: after a cancel and a retry two of our threads may hold two leases of one session.
        self._driven: set[tuple[UUID, int]] = set()
        self._interrupted: set[tuple[UUID, int]] = set()
        self._alive_until = 0.0
        # Runs of the work loop that wait for a thread: a pool that is busy with something else is not filled with them.
        self.submitted = 0
        # Sets one more idle slot on the work there is; the worker's pool gives it.
        self.spread: Callable[[], None] = _nothing

    # -- heartbeat

    def beat(self) -> None:
        """Renew the lease by one row. Raises what the database raises."""
        began = time.monotonic()
        execute(
            BEAT,
            {
                "boot": self.boot_id,
                "host": socket.gethostname(),
                "host_boot": _host_boot(),
                "pid": os.getpid(),
                "pid_started": _started(os.getpid()),
                "slots": self.slots,
                "busy": len(self._driven),
                "lease": float(settings.LEASE_SECONDS),
                "stopping": self.stopping.is_set(),
            },
        )
        # Counted from before the statement: our clock may only ever be stricter than the row.
        self._alive_until = began + settings.LEASE_SECONDS

    def lease_holds(self) -> bool:
        """Whether this process may still start a body."""
        return time.monotonic() < self._alive_until

    def leave(self) -> None:
        """Remove the row after a clean stop."""
        execute(GONE, [self.boot_id])

    # -- what it drives

    @contextmanager
    def driving(self, session: UUID, fence: int) -> Iterator[None]:
        """Mark the lease of *session* with that fence as driven by a thread of this process."""
        with self._lock:
            self._driven.add((session, fence))
        try:
            yield
        finally:
            with self._lock:
                self._driven.discard((session, fence))

    @contextmanager
    def submitting(self) -> Iterator[None]:
        """Count one run of the work loop that is put into the pool; not if that fails."""
        with self._lock:
            self.submitted += 1
        try:
            yield
        except BaseException:
            self.begun()
            raise

    def begun(self) -> None:
        """One of them has got its thread."""
        with self._lock:
            self.submitted -= 1

    @property
    def busy(self) -> int:
        """How many sessions are driven now."""
        return len(self._driven)

    def drives(self, session: UUID, fence: int) -> bool:
        """Whether a thread of this process drives *session* under that fence."""
        with self._lock:
            return (session, fence) in self._driven

    def interrupted(self, session: UUID, fence: int) -> None:
        """Note that the database went away under a drive: no failure of the session's."""
        with self._lock:
            self._interrupted.add((session, fence))

    def was_interrupted(self, session: UUID, fence: int) -> bool:
        """Whether that was noted."""
        with self._lock:
            return (session, fence) in self._interrupted

    def given_back(self, session: UUID, fence: int) -> None:
        """Forget the note."""
        with self._lock:
            self._interrupted.discard((session, fence))


def _nothing() -> None:
    """A process without a pool has no other slots."""


def provably_dead(me: UUID) -> list[UUID]:
    """Boot ids of workers of this host (same boot of it) whose process is gone: no need to await their lease."""
    host, host_boot = socket.gethostname(), _host_boot()
    return [
        boot
        for boot, peer, peer_boot, pid, started in fetch(PEERS, [me])
        if peer == host and peer_boot == host_boot and host_boot and started and _started(pid) != started
    ]


def forget_old_workers() -> None:
    """Remove the rows of workers that died long ago."""
    execute(FORGET)


def _host_boot() -> str:
    """This boot of the host and this namespace of process ids: only within both does a pid mean the same process.

    Containers share the kernel's boot id, and their host name too if it is set: without the namespace a living worker
    in the next container would look dead.
    """
    try:
        namespace = Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        return ""
    boot = _read("/proc/sys/kernel/random/boot_id")
    return f"{boot}:{namespace}" if boot else ""


def _read(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""


def _started(pid: int) -> str:
    """When *pid* started (clock ticks since the host's boot), or "" if there is no such process or no /proc.

    A zombie counts as gone: it runs nothing any more.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    rest = stat.rpartition(")")[2].split()
    return "" if rest[0] in ("Z", "X") else rest[19]


_current: Process | None = None


def current() -> Process | None:
    """This process as a worker, once its heartbeat has begun; None in a process that drives nothing."""
    return _current


def begin(slots: int) -> Process:
    """Make this process a worker."""
    global _current
    _current = Process(slots)
    return _current
