"""Why a session waits: in one document what for, for whom, until when, and what happens then.

Lives here: the sentences. They are made from a wait's document alone, so the page, the API and a notice say the same.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sessions.models import Session
from sessions.queries.documents import session_document
from sessions.states import ENDED, WORDS, State
from workspaces.models import Workspace

# What a wait is for, by kind, as the end of "Waiting for …".
WAITS_FOR: Mapping[str, str] = {
    "ask_user": "an answer",
    "ask_question": "an answer",
    "approval": "an approval",
    "timer": "a time",
    "trigger": "a trigger",
    "watch": "a change of a file",
    "external": "an event",
    "children": "its child sessions",
    "breakpoint": "somebody to continue it",
    "unknown_outcome": "the outcome of a call",
}

# What happens at the deadline when the session goes on, by reason.
_GOES_ON: Mapping[str, str] = {
    "question": "the agent is told that nobody answered in time and goes on",
    "approval": "the call does not run, the agent is told so and goes on",
    "external": "the agent is told that the event did not come in time and goes on",
    "children": "the agent is told which of them have ended and goes on",
    "timer": "the session goes on",
}


def status_document(session: Session) -> dict[str, Any]:
    """`{id, state, word, summary, waiting: [{yield, kind, reason, …, why, who, needs, then}], attention, failure, …}`.

    `summary` is one sentence on the whole; each wait says `why` it waits, for whom (`who` in words, `needs` the least
    role or None), until when (`deadline_at`, `wake_at`) and what `then` happens. At most five statements.
    """
    found = session_document(session)
    waiting = [explained(wait, session.workspace) for wait in found["waiting"]]
    return {
        "id": found["id"],
        "title": found["title"],
        "agent": found["agent"],
        "version": found["version"],
        "state": found["state"],
        "word": WORDS[found["state"]],
        "summary": summary(session, found),
        "needs_person": found["needs_person"],
        "waiting": waiting,
        "deadline_at": found["deadline_at"],
        "attention": found["attention"],
        "failure": found["failure"],
        "created_at": found["created_at"],
        "ended_at": found["ended_at"],
    }


def explained(wait: Mapping[str, Any], workspace: Workspace) -> dict[str, Any]:
    """A wait's document with its reasons in words."""
    needs = needed_role(wait)
    return {
        "yield": wait["id"],
        "kind": wait["kind"],
        "reason": wait["reason"],
        "event_key": wait["event_key"],
        "tool": wait["tool"],
        "call_id": wait["call_id"],
        "prompt": wait["prompt"],
        "questions": wait["questions"],
        "opened_at": wait["opened_at"],
        "deadline_at": wait["deadline_at"],
        "wake_at": wait["wake_at"],
        "on_expiry": wait["on_expiry"],
        "needs": needs,
        "who": who(wait, workspace),
        "why": why(wait, workspace),
        "then": then(wait),
    }


def needed_role(wait: Mapping[str, Any]) -> str | None:
    """The least role that may end the wait by its own kind of answer; None: no person is waited for."""
    if wait["kind"] == "approval" or (wait["kind"] == "unknown_outcome" and wait["gated"]):
        return "approver"
    return "operator" if wait["reason"] in ("question", "breakpoint") else None


def who(wait: Mapping[str, Any], workspace: Workspace) -> str:
    """For whom it waits, in words."""
    role = needed_role(wait)
    if role is None:
        return {"timer": "the clock", "children": "its child sessions"}.get(wait["reason"], "something outside")
    return f"{'an' if role[0] in 'ao' else 'a'} {role} of {workspace.name or workspace.slug}"


def why(wait: Mapping[str, Any], workspace: Workspace) -> str:
    """One sentence: what has to happen for this wait to end."""
    name = who(wait, workspace)
    person, tool = name[0].upper() + name[1:], wait["tool"] or "the tool"
    match wait["kind"]:
        case "ask_user":
            return f"{person} has to answer a question."
        case "ask_question":
            number = len(wait["questions"] or ())
            return f"{person} has to answer {'a question' if number == 1 else f'{number} questions'}."
        case "unknown_outcome":
            return f"Its worker stopped while {tool} ran, so nobody knows how that ended. {person} has to say."
        case "approval":
            return f"{person} has to decide whether {tool} may run."
        case "breakpoint":
            return f"{person} has to continue it."
        case "external":
            return f"Somebody has to deliver the event {wait['event'] or wait['event_key']}."
        case "timer":
            return "It goes on at a set time."
    return f"It waits for {WAITS_FOR.get(wait['kind'], 'something outside')}."


def then(wait: Mapping[str, Any]) -> str:
    """One sentence: what happens if nothing comes."""
    at: datetime | None = wait["deadline_at"]
    if at is None:
        return "There is no deadline: it waits until that happens."
    moment = at.strftime("%Y-%m-%d %H:%M:%S UTC")
    if wait["on_expiry"] == "abandon":
        return f"At {moment} the session is abandoned, and a later answer is refused."
    return f"At {moment} {_GOES_ON.get(wait['reason'], 'the session goes on without it')}."


def summary(session: Session, found: Mapping[str, Any]) -> str:
    """One sentence about the whole session (its document is *found*)."""
    state = State(session.state)
    if session.attention is not None:
        return f"It is set aside until somebody retries or cancels it: {session.attention.get('message', '')}"
    if state is State.PAUSED:
        waits = " What it waits for may still come in." if found["waiting"] else ""
        return f"It is paused until somebody resumes it.{waits}"
    if state in ENDED:
        reason = (found["end_reason"] or "").strip()
        return f"It has ended: {WORDS[state].lower()}." + (f" {reason}" if reason else "")
    return {
        State.QUEUED: "It starts as soon as a worker has a free slot.",
        State.RUNNING: "A worker drives it now.",
        State.RESUMABLE: "What it waited for is there. It goes on as soon as a worker has a free slot.",
        State.PARKED: _waiting(found["waiting"]),
        State.IDLE: "It waits for the next message.",
    }[state]


def _waiting(waits: list[dict[str, Any]]) -> str:
    kinds = list(dict.fromkeys(WAITS_FOR.get(wait["kind"], "something outside") for wait in waits))
    if not kinds:
        return "It waits."
    words = kinds[0] if len(kinds) == 1 else ", ".join(kinds[:-1]) + " and " + kinds[-1]
    return f"It waits for {words}; until then no worker is held."
