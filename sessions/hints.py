"""Hints: "there may be work". Losing every one of them costs latency, never work: the timekeeper finds the rows.

A hint carries no id and no state. It never raises. The first goes out at once; those of the next few milliseconds are
one, sent at their end: a worker that finds work sets its own idle slots on the rest, so n sessions need not n messages.
"""

import threading
import time

import structlog
from celery import current_app

WORK = "sessions.work"
WINDOW_SECONDS = 0.02

log = structlog.get_logger(__name__)


class Hints:
    """At most one hint goes out per window and process, and the last one asked for always does."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sent = 0.0
        self._waiting = False
        self._asked = threading.Event()
        self._thread: threading.Thread | None = None

    def ask(self) -> None:
        """Send a hint now, or have it sent at the end of the window."""
        with self._lock:
            if self._waiting:
                return
            now = time.monotonic()
            if now - self._sent >= WINDOW_SECONDS:
                self._sent = now
            else:
                self._waiting = True
                if self._thread is None or not self._thread.is_alive():
                    self._thread = threading.Thread(target=self._serve, name="layby-hints", daemon=True)
                    self._thread.start()
                self._asked.set()
                return
        send()

    def _serve(self) -> None:
        while True:
            self._asked.wait()
            self._asked.clear()
            time.sleep(max(0.0, self._sent + WINDOW_SECONDS - time.monotonic()))
            with self._lock:
                self._waiting, self._sent = False, time.monotonic()
            send()


_hints = Hints()


def work() -> None:
    """Tell the workers to look for claimable sessions. Called on commit."""
    _hints.ask()


def send() -> None:
    """One message to one worker slot."""
    try:
        current_app.send_task(WORK, retry=False, ignore_result=True)
    except Exception as error:  # noqa: BLE001 - the broker is down: the sweep finds the session soon
        log.warning("hint_not_sent", error=type(error).__name__)
