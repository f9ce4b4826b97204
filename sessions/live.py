"""Live pushes: "session S has entries up to N". Pages read the rows; a lost push costs seconds, never truth.

One event loop of its own thread per process sends them (0.6 ms there, 6 ms by `async_to_sync` from a worker's thread),
coalesced: of many pushes for one session within a window only the newest goes out. Frames carry ids and numbers only.
"""

import asyncio
import threading
from typing import Any
from uuid import UUID

import structlog
from channels.layers import get_channel_layer
from django.db import transaction

WINDOW_SECONDS = 0.05

log = structlog.get_logger(__name__)


def session_group(session: UUID | str) -> str:
    """The channel group of one session's pages."""
    return f"session.{session}"


def workspace_group(workspace: UUID | str) -> str:
    """The channel group of a workspace's lists."""
    return f"workspace.{workspace}"


def push_on_commit(session: UUID, workspace: UUID, seq: int) -> None:
    """Push (session, seq) when the current transaction commits."""
    transaction.on_commit(lambda: _pusher.push(session, workspace, seq), robust=True)


class Pusher:
    """The push loop: a daemon thread with its own event loop, started by the first push."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[UUID, tuple[UUID, int]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    def push(self, session: UUID, workspace: UUID, seq: int) -> None:
        """Queue one push; at most one waits per session."""
        with self._lock:
            first = not self._waiting
            known = self._waiting.get(session)
            self._waiting[session] = (workspace, max(seq, known[1] if known else 0))
            loop = self._loop or self._start()
        if first:
            loop.call_soon_threadsafe(lambda: loop.create_task(self._flush()))

    def _start(self) -> asyncio.AbstractEventLoop:
        loop = asyncio.new_event_loop()
        threading.Thread(target=loop.run_forever, name="layby-push", daemon=True).start()
        self._loop = loop
        return loop

    async def _flush(self) -> None:
        await asyncio.sleep(WINDOW_SECONDS)
        with self._lock:
            batch, self._waiting = self._waiting, {}
        layer: Any = get_channel_layer()
        try:
            for session, (workspace, seq) in batch.items():
                frame = {"type": "session.changed", "session": str(session), "seq": str(seq)}
                await layer.group_send(session_group(session), frame)
                await layer.group_send(workspace_group(workspace), frame)
        except Exception as error:  # noqa: BLE001 - pages poll and resync; nothing is lost
            log.warning("push_failed", error=type(error).__name__)


_pusher = Pusher()
