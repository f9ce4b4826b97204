"""How a session ends: finish, cancel, abandon, overdue. Every open wait is closed and every open call settled first."""

from typing import Any
from uuid import UUID

from django.db import transaction

from sessions.engine import journal
from sessions.engine.journal import Entry
from sessions.engine.lease import Lease
from sessions.engine.sql import execute, fetch, fetch_one
from sessions.engine.store.rows import RUNNING_MS, Locked, hold, lock, write
from sessions.states import ENDED, Outcome, State
from workspaces.actors import SYSTEM, Actor
from workspaces.values import canonical

CLOSE_WAITS = """/* store.settle: index yield_untaken */
UPDATE agent_sessions_yield SET outcome = %s, outcome_by = %s::jsonb, outcome_at = clock_timestamp(),
    payload = %s, taken_at = clock_timestamp()
WHERE session_id = %s AND taken_at IS NULL AND outcome IS NULL RETURNING id, kind"""

TAKE_WAITS = """/* store.settle: an outcome nobody will use any more */
UPDATE agent_sessions_yield SET taken_at = clock_timestamp() WHERE session_id = %s AND taken_at IS NULL"""

OPEN_CALLS = """/* store.settle: index call_open */
SELECT id, tool, status FROM agent_sessions_call
WHERE session_id = %s AND status IN ('pending', 'gated', 'started', 'waiting', 'unknown')
ORDER BY id FOR NO KEY UPDATE"""

SETTLE = """/* store.settle */
UPDATE agent_sessions_call SET status = 'cancelled', result = %s, ended_at = clock_timestamp()
WHERE id = %s AND result IS NULL"""

END = f""",
    state = %(state)s, ended_at = clock_timestamp(), worker = NULL, fence = fence + 1, attention = NULL,
    pause_requested = false, failure_code = %(code)s, running_ms = {RUNNING_MS}"""

TEXT = """/* store.settle */
UPDATE agent_sessions_sessiontext SET output = COALESCE(%s, output), failure_message = %s WHERE session_id = %s"""

FRAMES = """/* store.settle */ UPDATE agent_sessions_frame SET status = %s WHERE session_id = %s AND status = 'open'"""

UNPARK = "/* store.settle */ DELETE FROM agent_sessions_parkedstate WHERE session_id = %s"

# What the model would read of a call that was still open: never that nothing was done when something may have been.
WORDS = {
    "pending": "Cancelled before it started: it did not run.",
    "gated": "Cancelled before it was decided: it did not run.",
    "started": "Interrupted while it ran: it may have had effects. Its outcome is not known.",
    "waiting": "Cancelled while it waited.",
    "unknown": "Cancelled while its outcome was not known: it may have had effects.",
}


def settle(
    locked: Locked,
    state: State,
    actor: Actor,
    message: str,
    outcome: Outcome,
    *,
    code: str | None = None,
    output: str | None = None,
) -> None:
    """End a locked session: waits close as *outcome*, open calls are settled, the worker is fenced, then the state.

    All in the caller's transaction, so that nobody sees the final state beside an open call.
    """
    who, data = actor.as_json(), {"reason": message} if message else {}
    entries = []
    closed = fetch(CLOSE_WAITS, [str(outcome), canonical(who), canonical(data), locked.id])
    for id_, kind in closed:
        shown = {"yield": str(id_), "kind": kind, "outcome": str(outcome)}
        entries.append(Entry("wait.closed", shown, who))
    execute(TAKE_WAITS, [locked.id])
    for id_, tool, status in fetch(OPEN_CALLS, [locked.id]):
        execute(SETTLE, [WORDS[status], id_])
        entries.append(Entry("call.cancelled", {"call": str(id_), "tool": tool, "was": status}, who))
    execute(FRAMES, [str(state), locked.id])
    execute(UNPARK, [locked.id])
    failure = message if state is not State.COMPLETED else None
    execute(TEXT, [output, failure, locked.id])
    if code:
        data = {**data, "code": code}
    entries.append(Entry(f"session.{state}", data, who))
    write(locked, END, {"state": str(state), "code": code}, entries)


# The end of a session in which nothing is open, in one statement under the lock; where something is, `settle` does it.
FINISH = journal.within(
    """/* store.finish: the session is locked */ WITH s AS (
    UPDATE agent_sessions_session SET seq = seq + 1, state = 'completed', ended_at = clock_timestamp(), worker = NULL,
        fence = fence + 1, attention = NULL, pause_requested = false, failure_code = NULL, running_ms = {running}
    WHERE id = %(session)s AND NOT EXISTS (
        SELECT 1 FROM agent_sessions_yield y WHERE y.session_id = %(session)s AND y.taken_at IS NULL
    ) AND NOT EXISTS (
        SELECT 1 FROM agent_sessions_call c WHERE c.session_id = %(session)s
        AND c.status IN ('pending', 'gated', 'started', 'waiting', 'unknown')
    ) RETURNING id, seq
), frames AS (
    UPDATE agent_sessions_frame f SET status = 'completed' FROM s WHERE f.session_id = s.id AND f.status = 'open'
), texts AS (
    UPDATE agent_sessions_sessiontext t SET output = %(output)s, failure_message = NULL FROM s WHERE t.session_id = s.id
), {journalled}
SELECT seq FROM s"""
).replace("{running}", RUNNING_MS)

STEERS = "/* store.finish */ SELECT 1 FROM agent_sessions_steer WHERE session_id = %s AND taken_at IS NULL LIMIT 1"


def finish(lease: Lease, output: str) -> bool:
    """Complete the session with *output*. False: refused, a message came for the next turn. Raises LeaseLost."""
    with transaction.atomic():
        hold(lease)
        # Under the lock that `steer` takes too: a message is in time for this look, or its sender is told it ended.
        if fetch_one(STEERS, [lease.session]) is not None:
            return False
        values = {**journal.params([Entry("session.completed")]), "session": lease.session, "output": output}
        if (done := fetch_one(FINISH, values)) is not None:
            journal.push(lease.session, lease.workspace, done[0])
            return True
        settle(lock(lease.session), State.COMPLETED, SYSTEM, "", Outcome.CANCELLED, output=output)
        return True


def fail(lease: Lease, code: str, message: str) -> None:
    """End the session as failed with a code and a sentence for people. Raises LeaseLost."""
    with transaction.atomic():
        hold(lease)
        settle(lock(lease.session), State.FAILED, SYSTEM, message, Outcome.CANCELLED, code=code)


def cancel(session: UUID, actor: Actor, reason: str) -> Locked | None:
    """Cancel from any open state; None. An ended session is left alone: its row comes back."""
    with transaction.atomic():
        locked = lock(session)
        if locked.state in ENDED:
            return locked
        settle(locked, State.CANCELLED, actor, reason, Outcome.CANCELLED)
        return None


OVERDUE = """/* store.overdue */
SELECT 1 FROM agent_sessions_frame WHERE session_id = %s AND status = 'open'
AND deadline_at <= COALESCE(%s::timestamptz, clock_timestamp())"""


def fail_overdue(session: UUID, now: Any = None) -> bool:
    """End a session whose own deadline (`deadline_seconds`) has passed, from any state. False: it has not."""
    with transaction.atomic():
        locked = lock(session)
        if locked.state in ENDED or fetch_one(OVERDUE, [session, now]) is None:
            return False
        message = "The session did not end within its deadline (limit deadline_seconds)."
        settle(locked, State.FAILED, SYSTEM, message, Outcome.CANCELLED, code="limit_deadline_seconds")
        return True
