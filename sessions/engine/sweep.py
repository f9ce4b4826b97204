"""The sweep: what heals without a message. Each duty finds rows unlocked and acts on each under its session's lock.

Run by the timekeeper of every worker process; a try-advisory-lock per duty keeps them from doing the same work, and
doing it twice changes nothing.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import Any

import structlog
from django.db import InterfaceError, OperationalError

from sessions.engine import process as processes
from sessions.engine import store
from sessions.engine.process import Process
from sessions.engine.sql import fetch, fetch_one
from sessions.states import Outcome
from workspaces.actors import SYSTEM

BATCH = 500
FULL_BATCHES = 20

log = structlog.get_logger(__name__)

# These looks compare with the statement's moment by the database's clock: `clock_timestamp()` is volatile, and a
# condition on it reads the whole index, every second, whatever is due.
EXPIRED = """/* sweep.expire: index yield_expire */
SELECT id, session_id FROM agent_sessions_yield
WHERE outcome IS NULL AND deadline_at IS NOT NULL AND deadline_at <= COALESCE(%s::timestamptz, statement_timestamp())
ORDER BY deadline_at LIMIT %s"""


def expire(now: datetime | None = None) -> int:
    """Settle waits past their deadline as their suspension policy says; how many were looked at."""
    due = fetch(EXPIRED, [now, BATCH])
    for wait, session in due:
        _each("expire", partial(store.resolve, session, wait, Outcome.TIMED_OUT, None, SYSTEM, now=now))
    return len(due)


OVERDUE = """/* sweep.overdue: index frame_deadline */
SELECT session_id FROM agent_sessions_frame WHERE status = 'open' AND deadline_at IS NOT NULL
AND deadline_at <= COALESCE(%s::timestamptz, statement_timestamp()) ORDER BY deadline_at LIMIT %s"""


def overdue(now: datetime | None = None) -> int:
    """End sessions past their own deadline."""
    due = fetch(OVERDUE, [now, BATCH])
    for (session,) in due:
        _each("overdue", partial(store.fail_overdue, session, now))
    return len(due)


def reclaim(process: Process) -> int:
    """Take back the sessions of dead workers."""
    dead = processes.provably_dead(process.boot_id)
    found = store.stranded(dead)
    for session, worker in found:
        _each("reclaim", partial(store.reclaim, session, worker, certain=worker in dead))
    return len(found)


ORPHANS = """/* sweep.orphans: index session_reclaim */
SELECT id, fence FROM agent_sessions_session
WHERE state = 'running' AND worker = %s AND claimed_at < clock_timestamp() - interval '5 seconds' LIMIT %s"""


def orphans(process: Process) -> int:
    """Give back sessions that are ours by their rows while no thread of ours drives them.

    That the database was away is no failure of theirs; anything else is (a thread that ended without an edge).
    """
    me = process.boot_id
    found = [(s, f) for s, f in fetch(ORPHANS, [me, BATCH]) if not process.drives(s, f)]
    for session, fence in found:
        away = process.was_interrupted(session, fence)
        why = "database_away" if away else "interrupted"
        _each("orphans", partial(store.reclaim, session, me, fence=fence, certain=True, why=why, counts=not away))
        process.given_back(session, fence)
    return len(found)


UNMATCHED = """/* sweep.unmatched: index event_unmatched */
SELECT id FROM agent_sessions_event
WHERE matched_at IS NULL AND created_at < statement_timestamp() - interval '2 seconds' ORDER BY created_at LIMIT %s"""


def unmatched() -> int:
    """Match events whose publisher died between store and match."""
    found = fetch(UNMATCHED, [BATCH])
    for (event,) in found:
        _each("unmatched", partial(store.match, event))
    return len(found)


FORGOTTEN = """/* sweep.forgotten: index session_claim */
SELECT count(*) FROM (SELECT 1 FROM agent_sessions_session WHERE state IN ('queued', 'resumable') LIMIT %s) AS few"""


def forgotten(limit: int) -> int:
    """How many sessions are claimable, counted up to *limit*: hints may be late or lost."""
    row = fetch_one(FORGOTTEN, [limit])
    return int(row[0]) if row else 0


def _each(duty: str, act: Callable[[], Any]) -> None:
    """One row of a duty; a row that fails is logged and never stops the others."""
    try:
        act()
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        log.exception("sweep_row_failed", duty=duty)


TRY = "/* sweep.try_lock */ SELECT pg_try_advisory_lock(hashtext(%s))"
UNLOCK = "/* sweep.unlock */ SELECT pg_advisory_unlock(hashtext(%s))"


@contextmanager
def alone(duty: str) -> Iterator[bool]:
    """Whether nobody else does *duty* now; held on this thread's connection until the block ends."""
    row = fetch_one(TRY, [f"layby.sweep.{duty}"])
    mine = bool(row and row[0])
    try:
        yield mine
    finally:
        if mine:
            fetch_one(UNLOCK, [f"layby.sweep.{duty}"])


def once(process: Process) -> None:
    """All duties once. Raises what the database raises when it is away."""
    duties: dict[str, Callable[[], int]] = {
        "expire": expire,
        "overdue": overdue,
        "reclaim": lambda: reclaim(process),
        "unmatched": unmatched,
    }
    for duty, act in duties.items():
        with alone(duty) as mine:
            # A full batch is followed at once; bounded, since a row that fails stays due.
            for _ in range(FULL_BATCHES):
                if not mine or act() < BATCH:
                    break
    orphans(process)
