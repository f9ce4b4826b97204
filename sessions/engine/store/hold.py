"""What a person does to a session's course: pause, resume, retry, steer, move."""

from uuid import UUID

from django.db import transaction

from sessions import hints
from sessions.engine.frontier import SCHEMA_VERSION, Frontier
from sessions.engine.journal import Entry
from sessions.engine.lease import Lease
from sessions.engine.sql import execute, fetch_one, on_commit
from sessions.engine.store.attention import KEEP
from sessions.engine.store.claim import release
from sessions.engine.store.rows import RUNNING_MS, Locked, fenced, hold, lock, stands_still, untaken, write
from sessions.states import CLAIMABLE, ENDED, Priority, State
from workspaces.actors import Actor
from workspaces.ids import new_id
from workspaces.values import canonical


def pause(session: UUID, actor: Actor) -> State:
    """Pause now, or ask the running worker to at its next safe point; the state found before."""
    with transaction.atomic():
        locked = lock(session)
        if locked.state is State.RUNNING and not locked.pause_requested:
            write(locked, ", pause_requested = true", {}, [Entry("session.paused", {"asked": True}, actor.as_json())])
        elif locked.state in CLAIMABLE or locked.state is State.PARKED:
            write(locked, ", state = 'paused'", {}, [Entry("session.paused", {}, actor.as_json())])
        return locked.state


PAUSE_HERE = f""",
    state = 'paused', worker = NULL, fence = fence + 1, pause_requested = false, running_ms = {RUNNING_MS}"""


def pause_here(lease: Lease, frontier: Frontier) -> None:
    """The worker's safe point: carry out the pause that was asked for. Raises LeaseLost.

    A pause that was taken back meanwhile is not carried out: the session is given back to go on.
    """
    with transaction.atomic():
        hold(lease)
        if not lease.pause_requested:
            release(lease, "resumed")
            return
        fenced(lease, [Entry("session.paused", {})], PAUSE_HERE)
        execute(KEEP, [lease.session, SCHEMA_VERSION, frontier.as_json()])


def resume(session: UUID, actor: Actor) -> Locked:
    """End a pause: the rows say whether the session goes on or still waits. The row found before."""
    with transaction.atomic():
        locked = lock(session)
        if locked.state is State.RUNNING and locked.pause_requested:
            write(locked, ", pause_requested = false", {}, [Entry("session.resumed", {}, actor.as_json())])
        elif locked.state is State.PAUSED:
            _go(locked, "session.resumed", actor)
        return locked


def _go(locked: Locked, kind: str, actor: Actor) -> None:
    """Leave `paused`, attention or an end by the same rule as resolve: parked if something is waited for.

    Unless the worker was stopped before it came to the wait: questions are opened for the whole turn at once, so a
    call that stands before them may not have had its turn yet.
    """
    entries = [Entry(kind, {}, actor.as_json())]
    still = stands_still(untaken(locked.id)) and fetch_one(NEXT, [locked.id]) not in ACTIVE
    if still or (locked.attention is not None and locked.state is State.PAUSED):
        write(locked, ", state = 'parked'" + CLEARED[kind], {}, entries)
        return
    state = State.RESUMABLE if locked.fence > 0 else State.QUEUED  # fence 0: it never ran
    entries.append(Entry(f"session.{state}", {"why": kind.removeprefix("session.")}))
    ready = ", state = %(state)s, ready_at = clock_timestamp(), priority = %(priority)s" + CLEARED[kind]
    write(locked, ready, {"state": str(state), "priority": Priority.OPERATOR}, entries)
    on_commit(hints.work)


NEXT = """/* store.resume: index call_open; the call whose turn it is */
SELECT status FROM agent_sessions_call
WHERE session_id = %s AND status IN ('pending', 'gated', 'started', 'waiting', 'unknown')
ORDER BY turn, position LIMIT 1"""

ACTIVE = (("pending",), ("started",))

CLEARED = {
    "session.resumed": "",
    "session.retried": """, attention = NULL, attempts = 0, failure_code = NULL, ended_at = NULL, running_ms = 0,
        model_calls = 0""",
}

REOPEN = """/* store.retry */
UPDATE agent_sessions_frame SET status = 'open', deadline_at = NULL WHERE session_id = %s AND parent_frame IS NULL"""

NO_FAILURE = "/* store.retry */ UPDATE agent_sessions_sessiontext SET failure_message = NULL WHERE session_id = %s"


def retry(session: UUID, actor: Actor) -> Locked:
    """Let a failed, cancelled or set-aside session go on in place; the row found before.

    Recorded results are kept and closed waits stay closed: nothing is started over. A deadline that ended the session
    does not count again.
    """
    with transaction.atomic():
        locked = lock(session)
        set_aside = locked.state is State.PARKED and locked.attention is not None
        if locked.state in (State.FAILED, State.CANCELLED):
            execute(REOPEN, [session])
            execute(NO_FAILURE, [session])
        if set_aside or locked.state in (State.FAILED, State.CANCELLED):
            _go(locked, "session.retried", actor)
        return locked


STEER = """/* store.steer */
INSERT INTO agent_sessions_steer (id, session_id, text, by, at) VALUES (%s, %s, %s, %s::jsonb, clock_timestamp())"""


def steer(session: UUID, text: str, actor: Actor) -> State:
    """Queue *text* for the next turn; the state found. An ended session takes nothing: the caller must say so."""
    with transaction.atomic():
        locked = lock(session)
        if locked.state not in ENDED:
            id_ = new_id()
            execute(STEER, [id_, session, text, canonical(actor.as_json())])
            write(locked, "", {}, [Entry("message.queued", {"message": str(id_), "text": text}, actor.as_json())])
        return locked.state
