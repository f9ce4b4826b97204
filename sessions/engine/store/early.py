"""Events that came before the wait: under the session's lock, park and resolve look at what was published since."""

from collections.abc import Sequence
from functools import partial
from uuid import UUID

from sessions.engine.journal import Entry
from sessions.engine.lease import Lease
from sessions.engine.sql import execute, fetch_one, on_commit
from sessions.engine.store.rows import Untaken
from sessions.states import Fate, Outcome

EARLIEST = """/* store.early: index event_key; the first event since, that no wait of this session has used */
SELECT e.id, e.payload, e.source FROM agent_sessions_event e
WHERE e.workspace_id = %s AND e.event_key = %s AND e.created_at >= %s AND NOT EXISTS (
    SELECT 1 FROM agent_sessions_yield y WHERE y.event = e.id AND y.session_id = %s)
ORDER BY e.created_at, e.id LIMIT 1"""

TAKE = """/* store.early */
UPDATE agent_sessions_yield SET outcome = %s, outcome_by = %s::jsonb, outcome_at = clock_timestamp(), payload = %s,
    event = %s
WHERE id = %s AND outcome IS NULL"""


def take_early(lease: Lease, waits: Sequence[Untaken]) -> list[Entry]:
    """Give waiting *waits* of a locked session the events that came before them; the journal entries of that.

    The event's own row is not touched here (no event lock under a session lock): its fate is set after the commit.
    """
    entries = []
    for wait in waits:
        row = fetch_one(EARLIEST, [lease.workspace, wait.event_key, wait.since, lease.session])
        if row is None:
            continue
        event, payload, source = row
        execute(TAKE, [str(Outcome.FIRED), source, payload, event, wait.id])
        on_commit(partial(settle_fate, event))
        entries.append(Entry("event.matched", {"yield": str(wait.id), "event": str(event), "fate": str(Fate.EARLY)}))
    return entries


USES = """/* store.settle_fate: index yield_event */
SELECT count(y.id), bool_or(y.opened_at > e.created_at)
FROM agent_sessions_event e LEFT JOIN agent_sessions_yield y ON y.event = e.id WHERE e.id = %s"""

FATE = """/* store.settle_fate */
UPDATE agent_sessions_event SET matched_at = clock_timestamp(), fate = %s, woken = %s WHERE id = %s"""


def settle_fate(event: UUID) -> tuple[Fate, int]:
    """Write an event's fate from the waits that used it; (fate, how many). Idempotent."""
    row = fetch_one(USES, [event])
    count, early = row or (0, False)
    fate = Fate.EARLY if early else Fate.MATCHED if count else Fate.NOBODY_WAITING
    execute(FATE, [str(fate), count, event])
    return fate, count
