"""Leases: claim, reclaim, release. Who may advance a session, and since when.

Claim order: priority (operator, resume, fresh), then workspaces in turn, then age; every fourth claim goes from the
bottom, so that neither a workspace nor a priority starves another.
"""

import itertools
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction

from sessions import hints
from sessions.engine import journal
from sessions.engine.frontier import Frontier, UnreadableFrontierError
from sessions.engine.journal import Entry
from sessions.engine.lease import Lease
from sessions.engine.sql import fetch, fetch_one, on_commit
from sessions.engine.store.attention import attend
from sessions.engine.store.rows import RUNNING_MS, Locked, fenced, hold, lock, write
from sessions.states import Attention, Priority, State

MAX_ATTEMPTS = 3

CANDIDATE = """/* store.claim: index session_claim; a claim that meets a lock looks further */
SELECT s.id, s.workspace_id, s.kind, s.version_id, s.surface, s.state, s.fence, s.attempts, s.seq,
       s.attention, s.pause_requested, s.depth, s.created_at, w.slug
FROM agent_sessions_session s JOIN workspaces_workspace w ON w.id = s.workspace_id
WHERE s.state IN ('queued', 'resumable') AND s.priority = %s AND s.workspace_id {turn} %s
ORDER BY s.workspace_id, s.ready_at LIMIT 1 FOR NO KEY UPDATE OF s SKIP LOCKED"""

ANY = """/* store.claim_any: index session_claim; which priority has work at all, and is there more */
SELECT priority FROM agent_sessions_session WHERE state IN ('queued', 'resumable') ORDER BY priority {order} LIMIT 2"""

TAKE = journal.within(
    """/* store.claim: the candidate is locked */ WITH s AS (
    UPDATE agent_sessions_session SET state = 'running', worker = %(worker)s, fence = fence + 1,
        claimed_at = clock_timestamp(), pause_requested = false, seq = seq + 1
    WHERE id = %(session)s RETURNING id, fence, seq, model_calls, running_ms
), forgotten AS (DELETE FROM agent_sessions_parkedstate p USING s WHERE p.session_id = s.id), {journalled}
SELECT fence, seq, model_calls, running_ms, EXISTS (
    SELECT 1 FROM agent_sessions_steer t WHERE t.session_id = s.id AND t.taken_at IS NULL) FROM s"""
)

FRONTIER = """/* store.claim: under the lock; joined to CANDIDATE it would be read as it was before */
SELECT schema_version, frontier FROM agent_sessions_parkedstate WHERE session_id = %s"""


@dataclass(frozen=True)
class Claim:
    """A session in a worker's hand. `more`: there was another claimable one beside it."""

    lease: Lease
    kind: str
    version: UUID
    surface: str
    workspace_slug: str
    created_at: datetime
    attempts: int
    depth: int
    frontier: Frontier | None
    more: bool = False


_turns = itertools.count(1)
_last_workspace: dict[int, UUID] = {}
_FIRST = UUID(int=0)


def claim(worker: UUID) -> Claim | None:
    """Take the most urgent session for *worker*, or None. An unreadable parked state is set aside on the way."""
    while True:
        found = _claim_one(worker)
        if not isinstance(found, Locked):
            return found


def _claim_one(worker: UUID) -> Claim | Locked | None:
    from_the_top = next(_turns) % 4 != 0
    found = fetch(ANY.format(order="ASC" if from_the_top else "DESC"))
    if not found:
        return None
    priorities = Priority.ALL if from_the_top else Priority.ALL[::-1]
    with transaction.atomic():
        row = None
        for priority, turn in itertools.product(priorities[priorities.index(found[0][0]) :], (">", "<=")):
            after = _last_workspace.get(priority, _FIRST)
            row = fetch_one(CANDIDATE.format(turn=turn), [priority, after])
            if row is not None:
                _last_workspace[priority] = row[1]
                break
        if row is None:
            return None
        id_, workspace, kind, version, surface, state, fence, attempts, seq = row[:9]
        locked = Locked(id_, State(state), workspace, None, fence, attempts, seq, *row[9:11])
        depth, created_at, slug = row[11:]
        kept = fetch_one(FRONTIER, [id_]) if fence > 0 else None  # fence 0: it never ran
        try:
            parsed = Frontier.parse(*kept) if kept is not None else None
        except UnreadableFrontierError as error:
            # Kept, not started over: the row stays until a person or a newer release can read it.
            attend(locked, Attention.UNREADABLE_STATE, str(error))
            return locked
        entry = Entry("session.running", {"attempt": attempts})
        taken = fetch_one(TAKE, {**journal.params([entry]), "worker": worker, "session": id_})
        assert taken is not None
        lease = Lease(id_, workspace, worker, taken[0], model_calls=taken[2], running_ms=taken[3], steered=taken[4])
        journal.push(id_, workspace, taken[1])
    return Claim(lease, kind, version, surface, slug, created_at, attempts, depth, parsed, len(found) > 1)


LEAVE = f""",
    state = 'resumable', worker = NULL, fence = fence + 1, ready_at = clock_timestamp(), running_ms = {RUNNING_MS}"""

# Nobody drives it any more: a pause that was asked for and not carried out yet is, or the next worker would run it.
PAUSE = f""",
    state = 'paused', worker = NULL, fence = fence + 1, running_ms = {RUNNING_MS}, pause_requested = false"""


def release(lease: Lease, why: str = "worker_stopping") -> None:
    """Give a session back unharmed (paused, if that was asked for). No attempt is counted. Raises LeaseLost."""
    with transaction.atomic():
        hold(lease)
        if lease.pause_requested:
            fenced(lease, [Entry("session.paused", {"why": why})], PAUSE)
            return
        fenced(lease, [Entry("session.resumable", {"why": why})], LEAVE)
        on_commit(hints.work)


STRANDED = """/* store.stranded: index session_reclaim; sessions of workers that are not alive */
SELECT s.id, s.worker FROM agent_sessions_session s LEFT JOIN agent_sessions_worker w ON w.boot_id = s.worker
WHERE s.state = 'running' AND (w.boot_id IS NULL OR w.alive_until < clock_timestamp() OR w.boot_id = ANY(%s))
LIMIT 500"""

YOUNG_DATABASE = """/* store.young_database: after a database restart nobody could have sent a heartbeat */
SELECT clock_timestamp() - pg_postmaster_start_time() < interval '15 seconds'"""

ALIVE = "/* store.alive */ SELECT alive_until > clock_timestamp() FROM agent_sessions_worker WHERE boot_id = %s"


def stranded(dead: list[UUID]) -> list[tuple[UUID, UUID]]:
    """(session, worker) of running sessions whose worker's heartbeat ended, or is in *dead* (provably gone)."""
    if fetch("/* store.stranded */ SELECT 1 FROM agent_sessions_session WHERE state = 'running' LIMIT 1") == []:
        return []
    found = fetch(STRANDED, [dead])
    young = fetch_one(YOUNG_DATABASE)
    if young is not None and young[0]:
        found = [row for row in found if row[1] in dead]
    return [(row[0], row[1]) for row in found]


def reclaim(
    session: UUID,
    worker: UUID,
    *,
    fence: int | None = None,
    certain: bool = False,
    why: str = "worker_died",
    counts: bool = True,
) -> bool:
    """Take *session* from *worker*, which no longer drives it: resumable again (or paused), or set aside as poison.

    Counts an attempt, unless it is no failure of the session's (`counts`). Does nothing (False) if the session is no
    longer that worker's, or the worker turned out to be alive and `certain` is not given: the first look was unlocked.
    """
    with transaction.atomic():
        locked = lock(session)
        if locked.state is not State.RUNNING or locked.worker != worker or fence not in (None, locked.fence):
            return False
        if not certain and (alive := fetch_one(ALIVE, [worker])) is not None and alive[0]:
            return False
        attempts = locked.attempts + counts
        if attempts >= MAX_ATTEMPTS:
            message = f"Its worker died {attempts} times while it ran ({why}). It is not tried again by itself."
            attend(locked, Attention.POISON, message, more=", attempts = 0")
            return True
        if locked.pause_requested:
            entry = Entry("session.paused", {"why": why, "attempt": attempts})
            write(locked, PAUSE + ", attempts = %(attempts)s", {"attempts": attempts}, [entry])
            return True
        write(
            locked,
            LEAVE + ", attempts = %(attempts)s, priority = %(priority)s",
            {"attempts": attempts, "priority": Priority.RESUME},
            [Entry("session.resumable", {"why": why, "attempt": attempts})],
        )
        on_commit(hints.work)
        return True
