"""The only place that writes journal entries, and so the only place that tells live pages to look again.

Invariant: a verb raises `session.seq` by the number of entries in the same transaction, under the session's lock, so
the numbers have no gaps and the last one is the session's `seq`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from sessions import live
from sessions.engine.sql import execute
from workspaces.actors import SYSTEM
from workspaces.values import canonical

# Every kind of entry, with the sentence the README gives it.
KINDS: dict[str, str] = {
    "session.queued": "started",
    "session.running": "a worker took it",
    "session.parked": "waits, no worker is held",
    "session.resumable": "what it waited for happened, or a worker gave it back",
    "session.paused": "paused",
    "session.resumed": "the pause ended",
    "session.completed": "ended with its output",
    "session.failed": "ended with a reason",
    "session.cancelled": "cancelled",
    "session.abandoned": "given up at a deadline",
    "session.attention": "set aside until a person acts",
    "session.retried": "goes on after a failure, a cancel or attention",
    "session.moved": "moved to another version of its agent",
    "model.replied": "a model's reply with the calls it asks for",
    "model.retried": "the provider failed, it is tried again",
    "call.started": "a tool's body begins",
    "call.succeeded": "a tool call ended well",
    "call.failed": "a tool call ended with an error result",
    "call.rejected": "a tool call was refused by a person",
    "call.timed_out": "a tool call's wait ended at its deadline",
    "call.cancelled": "a tool call was cancelled",
    "call.unknown": "nobody knows how a call ended: a person is asked",
    "call.rerun": "a call is run again",
    "wait.opened": "a wait began",
    "wait.closed": "a wait has its outcome",
    "wait.late": "an answer came too late and was kept, not delivered",
    "event.matched": "an event ended a wait",
    "message.queued": "a message for the next turn",
    "message.taken": "the agent has read it",
    "notice.sent": "the agent informed the workspace",
    "result.late": "a result came after its worker had lost the session",
}


@dataclass(frozen=True)
class Entry:
    """One entry to write. `data` must already be sanitised; `actor` is None for the system."""

    kind: str
    data: Mapping[str, Any] = field(default_factory=dict)
    actor: Mapping[str, Any] | None = None


_SYSTEM = canonical(SYSTEM.as_json())

APPEND = """/* journal.append */
INSERT INTO agent_sessions_journal (session_id, seq, kind, actor, data, at) VALUES """


def append(
    session: UUID, workspace: UUID, last_seq: int, entries: Sequence[Entry], now: datetime | None = None
) -> None:
    """Write *entries* as numbers last_seq-len+1 .. last_seq, and push (session, last_seq) when this commits."""
    if not entries:
        return
    params: list[Any] = []
    for number, entry in enumerate(entries, last_seq - len(entries) + 1):
        if entry.kind not in KINDS:
            raise ValueError(f"unknown journal kind {entry.kind!r}")
        actor = _SYSTEM if entry.actor is None else canonical(dict(entry.actor))
        params += [session, number, entry.kind, actor, canonical(dict(entry.data)), now]
    row = "(%s, %s, %s, %s::jsonb, %s, COALESCE(%s::timestamptz, clock_timestamp()))"
    execute(APPEND + ", ".join([row] * len(entries)), params)
    live.push_on_commit(session, workspace, last_seq)
