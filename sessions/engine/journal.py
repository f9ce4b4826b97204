"""The only place that knows how journal entries are written, and the one that tells live pages to look again.

Invariant: a verb raises `session.seq` by the number of entries in the same transaction, under the session's lock, so
the numbers have no gaps and the last one is the session's `seq`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from sessions import live
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

# The part of a verb's one statement that writes its entries: `s` is its UPDATE of the session, with the new `seq`.
ENTRIES = """journalled AS (
    INSERT INTO agent_sessions_journal (session_id, seq, kind, actor, data, at)
    SELECT s.id, s.seq - %(n)s + e.n, e.kind, e.actor::jsonb, e.data, COALESCE(%(now)s::timestamptz, clock_timestamp())
    FROM s CROSS JOIN unnest(%(kinds)s::text[], %(actors)s::text[], %(datas)s::text[])
        WITH ORDINALITY AS e(kind, actor, data, n)
)"""


def within(statement: str) -> str:
    """*statement* with its `{journalled}` replaced by the part that writes the entries."""
    return statement.replace("{journalled}", ENTRIES)


def params(entries: Sequence[Entry], now: datetime | None = None) -> dict[str, Any]:
    """What ENTRIES needs to write *entries*, the last of which gets the session's new number."""
    if wrong := [entry.kind for entry in entries if entry.kind not in KINDS]:
        raise ValueError(f"unknown journal kind {wrong[0]!r}")
    return {
        "n": len(entries),
        "now": now,
        "kinds": [entry.kind for entry in entries],
        "actors": [_SYSTEM if entry.actor is None else canonical(dict(entry.actor)) for entry in entries],
        "datas": [canonical(dict(entry.data)) for entry in entries],
    }


def push(session: UUID, workspace: UUID, seq: int) -> None:
    """Tell live pages, when this commits, that *session* has entries up to *seq*."""
    live.push_on_commit(session, workspace, seq)
