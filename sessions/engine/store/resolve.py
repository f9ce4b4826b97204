"""Resolve: a wait gets its one outcome, and its session goes on if that was the last one it stood still for.

First wins: the outcome is written under the session's lock only where there is none. Whoever comes later is told who
won, and leaves a note with their text in the journal.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from sessions import hints
from sessions.engine.journal import Entry
from sessions.engine.sql import execute, fetch_one, on_commit
from sessions.engine.store.close import settle
from sessions.engine.store.rows import Locked, lock, untaken, write
from sessions.engine.store.rows import goes_on as rows_go_on
from sessions.states import ENDED, Outcome, Priority, State
from workspaces.actors import SYSTEM, Actor
from workspaces.errors import NotFound
from workspaces.values import canonical

WAIT = """/* store.resolve: the session is locked, so the wait stands still */
SELECT outcome, outcome_by, outcome_at, reason, on_expiry, kind,
       deadline_at <= COALESCE(%s::timestamptz, clock_timestamp())
FROM agent_sessions_yield WHERE id = %s AND session_id = %s"""

OUTCOME = """/* store.resolve */
UPDATE agent_sessions_yield SET outcome = %s, outcome_by = %s::jsonb,
    outcome_at = COALESCE(%s::timestamptz, clock_timestamp()), payload = %s, event = %s
WHERE id = %s AND outcome IS NULL"""

# A wake by a person, event, trigger or file starts the counted limits anew; timers and children do not.
FROM_OUTSIDE = frozenset({Outcome.ANSWERED, Outcome.APPROVED, Outcome.REJECTED, Outcome.FIRED, Outcome.CANCELLED})
ANEW = ", running_ms = 0, model_calls = 0, claimed_at = clock_timestamp()"


@dataclass(frozen=True)
class Resolution:
    """What came of it. `won` False: `outcome`, `by` and `at` are the winner's; `session` is the state left behind."""

    won: bool
    outcome: str
    by: Mapping[str, Any]
    at: datetime | None
    session: State
    on_expiry: str = "continue"


def resolve(
    session: UUID,
    wait: UUID,
    outcome: Outcome,
    payload: Any,
    actor: Actor,
    *,
    event: UUID | None = None,
    now: datetime | None = None,
) -> Resolution:
    """Write *outcome* on *wait* if it has none. `now` (tests) is the moment deadlines are judged by.

    An outcome that is not `timed_out` and comes past the deadline settles the expiry instead and loses.
    Raises NotFound.
    """
    with transaction.atomic():
        locked = lock(session)
        row = fetch_one(WAIT, [now, wait, session])
        if row is None:
            raise NotFound("There is no such wait in this session.")
        had, by, at, reason, on_expiry, kind, overdue = row
        if had is not None or locked.state in ENDED:
            _note_late(locked, wait, outcome, payload, actor)
            return Resolution(False, had or "", json.loads(by) if by else {}, at, locked.state, on_expiry)
        late = bool(overdue) and outcome is not Outcome.TIMED_OUT
        written, who = (Outcome.TIMED_OUT, SYSTEM) if late or outcome is Outcome.TIMED_OUT else (outcome, actor)
        state = locked.state
        if written is Outcome.TIMED_OUT and on_expiry == "abandon":
            # Settled before anything else, so that what waited can never run. The other waits did not run out.
            execute(OUTCOME, [str(written), canonical(who.as_json()), now, None, event, wait])
            closed = Entry("wait.closed", {"yield": str(wait), "kind": kind, "outcome": str(written)}, who.as_json())
            write(locked, "", {}, [closed])
            settle(locked, State.ABANDONED, who, f"The wait ({reason}) was not answered in time.", Outcome.CANCELLED)
            state = State.ABANDONED
        else:
            text = None if written is Outcome.TIMED_OUT else canonical(payload)
            execute(OUTCOME, [str(written), canonical(who.as_json()), now, text, event, wait])
            state = _go_on(locked, wait, written, who, kind, event, reason in ("timer", "children"))
        if late:
            _note_late(lock(session), wait, outcome, payload, actor)
            return Resolution(False, str(written), who.as_json(), None, state, on_expiry)
        return Resolution(True, str(written), who.as_json(), None, state, on_expiry)


def _go_on(
    locked: Locked, wait: UUID, outcome: Outcome, actor: Actor, kind: str, event: UUID | None, inner: bool
) -> State:
    data: dict[str, Any] = {"yield": str(wait), "kind": kind, "outcome": str(outcome)}
    if event is not None:
        data["event"] = str(event)
    entries = [Entry("wait.closed", data, actor.as_json())]
    anew = ANEW if outcome in FROM_OUTSIDE and not inner else ""
    if locked.state is State.PARKED and locked.attention is None and rows_go_on(untaken(locked.id)):
        entries.append(Entry("session.resumable", {"why": str(outcome)}))
        priority = Priority.OPERATOR if actor.kind != "system" else Priority.RESUME
        ready = ", state = 'resumable', ready_at = clock_timestamp(), priority = %(priority)s"
        write(locked, ready + anew, {"priority": priority}, entries)
        on_commit(hints.work)
        return State.RESUMABLE
    write(locked, anew, {}, entries)
    return locked.state


def _note_late(locked: Locked, wait: UUID, outcome: Outcome, payload: Any, actor: Actor) -> None:
    if outcome is Outcome.TIMED_OUT:
        return  # the sweep came second: nobody's words are lost
    data = {"yield": str(wait), "outcome": str(outcome), "payload": payload, "delivered": False}
    write(locked, "", {}, [Entry("wait.late", data, actor.as_json())])
