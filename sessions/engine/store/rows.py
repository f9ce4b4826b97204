"""What the verbs share: locking a session, the fenced write, and the rule by which a frame goes on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sessions.engine import journal
from sessions.engine.journal import Entry
from sessions.engine.lease import Lease, LeaseLost
from sessions.engine.sql import fetch, fetch_one
from sessions.states import State
from workspaces.errors import NotFound

# The running time since the last outside wake, in milliseconds, as the row knows it at this moment.
RUNNING_MS = """(running_ms + CASE WHEN state = 'running'
    THEN GREATEST(0, EXTRACT(EPOCH FROM clock_timestamp() - claimed_at) * 1000)::bigint ELSE 0 END)"""

LOCK = """/* store.lock: by id alone, what is decided is decided in the next statement */
SELECT state, workspace_id, worker, fence, attempts, seq, attention, pause_requested
FROM agent_sessions_session WHERE id = %s FOR NO KEY UPDATE"""


@dataclass(frozen=True)
class Locked:
    """A session row under its lock."""

    id: UUID
    state: State
    workspace: UUID
    worker: UUID | None
    fence: int
    attempts: int
    seq: int
    attention: Any
    pause_requested: bool


def lock(session: UUID) -> Locked:
    """Lock *session* for the rest of the transaction. Raises NotFound."""
    row = fetch_one(LOCK, [session])
    if row is None:
        raise NotFound("There is no such session.")
    return Locked(session, State(row[0]), *row[1:])


WRITE = journal.within(
    """/* store.write */ WITH s AS (
    UPDATE agent_sessions_session SET seq = seq + %(n)s{assignments} WHERE id = %(session)s RETURNING id, seq
), {journalled}
SELECT seq FROM s"""
)


def write(
    locked: Locked, assignments: str, params: Mapping[str, Any], entries: Sequence[Entry], now: datetime | None = None
) -> None:
    """One UPDATE of a locked session with *assignments*, and its journal entries."""
    values = {**journal.params(entries, now), **params, "session": locked.id}
    row = fetch_one(WRITE.format(assignments=assignments), values)
    assert row is not None
    if entries:
        journal.push(locked.id, locked.workspace, row[0])


# `steered`: whether a person's message waits for the next turn. One that comes a moment later is read a turn later,
# or refuses the finish, which looks under the lock.
FENCED = journal.within(
    """/* {name}: a guard that stays false once false, so it may stand in the WHERE */ WITH s AS (
    UPDATE agent_sessions_session SET seq = seq + %(n)s{assignments}
    WHERE id = %(session)s AND worker = %(worker)s AND fence = %(fence)s AND state = 'running'{guard}
    RETURNING id, seq, pause_requested, model_calls, {running} AS running_ms
), {journalled}{more}
SELECT seq, pause_requested, model_calls, running_ms, EXISTS (
    SELECT 1 FROM agent_sessions_steer t WHERE t.session_id = s.id AND t.taken_at IS NULL) FROM s"""
)


def fenced(
    lease: Lease,
    entries: Sequence[Entry],
    assignments: str = "",
    *,
    name: str = "store.fenced",
    guard: str = "",
    more: Sequence[str] = (),
    **params: Any,
) -> None:
    """The holder's write, one statement: raises LeaseLost if the lease is gone. Refreshes what the lease knows.

    *more*: further parts `x AS (INSERT … SELECT … FROM s)` that write nothing when the lease is gone.
    """
    parts = "".join(f", {part}" for part in more)
    statement = FENCED.format(name=name, assignments=assignments, guard=guard, more=parts, running=RUNNING_MS)
    row = fetch_one(statement, lease.params(**journal.params(entries), **params))
    if row is None:
        raise LeaseLost
    lease.pause_requested, lease.model_calls, lease.running_ms, lease.steered = row[1:]
    if entries:
        journal.push(lease.session, lease.workspace, row[0])


HOLD = """/* store.hold: the session's lock for its holder, without a new version of the row */
SELECT pause_requested FROM agent_sessions_session
WHERE id = %(session)s AND worker = %(worker)s AND fence = %(fence)s AND state = 'running' FOR NO KEY UPDATE"""


def hold(lease: Lease) -> None:
    """Lock the session for its holder before its waits and calls are looked at. Raises LeaseLost.

    From here to the commit `lease.pause_requested` is what the row says.
    """
    row = fetch_one(HOLD, lease.params())
    if row is None:
        raise LeaseLost
    lease.pause_requested = row[0]


UNTAKEN = """/* store.untaken: waits whose outcome the driver has not used */
SELECT id, frame, wakes, outcome, event_key, since, kind, call FROM agent_sessions_yield
WHERE session_id = %s AND taken_at IS NULL"""


TAKEN = "/* store.taken */ UPDATE agent_sessions_yield SET taken_at = clock_timestamp() WHERE id = ANY(%s)"


@dataclass(frozen=True)
class Untaken:
    """A wait the driver has not used yet."""

    id: UUID
    frame: UUID
    wakes: str
    outcome: str | None
    event_key: str
    since: datetime | None
    kind: str
    call: UUID | None


def untaken(session: UUID) -> list[Untaken]:
    """The waits of a locked session that are open or whose outcome is not used yet."""
    return [Untaken(*row) for row in fetch(UNTAKEN, [session])]


def goes_on(waits: Sequence[Untaken]) -> bool:
    """The one rule of waking: whether a session with these untaken waits has something to go on with.

    An `each` outcome (graphs): always. A `turn` outcome: when no wait of that frame's turn is open any more.
    Park refuses by it, resolve wakes by it, resume and retry choose by it.
    """
    open_frames = {w.frame for w in waits if w.outcome is None and w.wakes == "turn"}
    return any(w.outcome is not None and (w.wakes == "each" or w.frame not in open_frames) for w in waits)


def stands_still(waits: Sequence[Untaken]) -> bool:
    """Whether these waits keep the session parked: something is open and nothing is to go on with."""
    return any(w.outcome is None for w in waits) and not goes_on(waits)
