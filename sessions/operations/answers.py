"""What people do to waits: answer, cancel one, settle an unknown outcome. The first wins, the others are told."""

import json
from typing import Any

from sessions.engine import store
from sessions.errors import AlreadyAnswered, AmbiguousWait, LateAnswer, NotWaiting, SuspensionExpired, WrongKind
from sessions.models import Session, Yield
from sessions.operations.sessions import MAX_REASON, ended_error
from sessions.states import ENDED, Outcome, State
from sessions.tools.answers import check_answer, normalise_question_answer
from workspaces import access, clock
from workspaces.actors import SYSTEM, Actor
from workspaces.errors import Invalid, NotFound
from workspaces.ids import parse_id
from workspaces.roles import Need
from workspaces.values import canonical, require_clean

QUESTIONS = frozenset({"ask_user", "ask_question"})
MAX_ANSWER = 1024 * 1024


def find_wait(session: Session, kinds: frozenset[str], wait: str | None = None, call: str | None = None) -> Yield:
    """The wait an answer is meant for: by its id, by its call's id, or the only open one of *kinds*.

    Raises NotFound, AmbiguousWait (with the ids), NotWaiting, Ended, SuspensionExpired, WrongKind, Invalid.
    """
    if wait is not None or call is not None:
        id_ = parse_id(str(wait if wait is not None else call))
        found = None
        if id_ is not None:
            mine = Yield.objects.filter(session=session)
            found = (mine.filter(pk=id_) if wait is not None else mine.filter(call=id_).order_by("-opened_at")).first()
        if found is None:
            raise NotFound("There is no such wait in this session.")
        if wait is not None and call is not None and found.call != parse_id(str(call)):
            raise Invalid("yield and tool_call_id name different waits: give one of them.")
        if found.kind not in kinds:
            raise WrongKind(f"This wait is of kind {found.kind} and takes another kind of answer.")
        return found
    waits = list(
        Yield.objects.filter(session=session, outcome__isnull=True, kind__in=kinds).order_by("opened_at", "pk")
    )
    if not waits:
        if session.state == State.ABANDONED:
            raise SuspensionExpired()  # only a deadline abandons
        if session.state in ENDED:
            raise ended_error(State(session.state))
        raise NotWaiting()
    if len(waits) > 1:
        raise AmbiguousWait(yields=[str(w.pk) for w in waits])
    return waits[0]


def answer(actor: Actor, session: Session, response: Any, wait: str | None = None, call: str | None = None) -> Yield:
    """Answer a question. An answer that breaks its schema changes nothing.

    Raises SchemaViolation, Invalid, NotFound, AmbiguousWait, NotWaiting, WrongKind, AlreadyAnswered, Ended,
    SuspensionExpired.
    """
    access.require(actor, session.workspace, Need.OPERATE)
    found = find_wait(session, QUESTIONS, wait, call)
    require_clean(response, "response")
    if len(canonical(response)) > MAX_ANSWER:
        raise Invalid(f"response: at most {MAX_ANSWER} bytes of JSON.")
    if found.outcome is None:
        response = _checked(found, response)
    _resolve(actor, session, found, Outcome.ANSWERED, response)
    return found


def _checked(wait: Yield, response: Any) -> Any:
    if wait.kind == "ask_question":
        return normalise_question_answer(json.loads(wait.shown)["questions"], response)
    check_answer(json.loads(wait.schema) if wait.schema else None, response)
    return response


def cancel_wait(actor: Actor, session: Session, wait: str, reason: str = "") -> Yield:
    """Cancel one wait, not the session: the agent is told by whom and why, and its turn goes on.

    Raises NotFound, AlreadyAnswered, Ended, SuspensionExpired.
    """
    access.require(actor, session.workspace, Need.OPERATE)
    found = _any(session, wait)
    if len(reason) > MAX_REASON:
        raise Invalid(f"reason: at most {MAX_REASON} characters.")
    require_clean(reason, "reason")
    _resolve(actor, session, found, Outcome.CANCELLED, {"reason": reason.strip()})
    return found


SETTLED: dict[str, str] = {"succeeded": "it had succeeded", "failed": "it had failed", "rerun": "run it again"}


def settle_unknown(
    actor: Actor, session: Session, wait: str, outcome: str, result: Any = None, reason: str = ""
) -> Yield:
    """Say how a call ended whose worker died in its body: succeeded or failed with a result, or run it again.

    An operator may; an approver if the call was gated. Raises Forbidden, Invalid, NotFound, WrongKind,
    AlreadyAnswered, Ended.
    """
    access.require(actor, session.workspace, Need.OPERATE)
    found = _any(session, wait)
    if found.kind != "unknown_outcome":
        raise WrongKind(f"This wait is of kind {found.kind}: only an unknown outcome is settled.")
    if Yield.objects.filter(call=found.call, phase="gate").exists():
        access.require(actor, session.workspace, Need.DECIDE)  # what was approved once is settled by who may approve
    if outcome not in SETTLED:
        raise Invalid(f"outcome: one of {', '.join(SETTLED)} is expected.")
    require_clean([result, reason], "result")
    if len(canonical([result, reason])) > MAX_ANSWER:
        raise Invalid(f"result: at most {MAX_ANSWER} bytes of JSON.")
    payload = {"outcome": outcome, "result": result, "reason": reason}
    _resolve(actor, session, found, Outcome.ANSWERED, payload)
    return found


def _any(session: Session, wait: str) -> Yield:
    id_ = parse_id(wait)
    found = Yield.objects.filter(session=session, pk=id_).first() if id_ else None
    if found is None:
        raise NotFound("There is no such wait in this session.")
    return found


def _resolve(actor: Actor, session: Session, wait: Yield, outcome: Outcome, payload: Any) -> None:
    done = store.resolve(session.pk, wait.pk, outcome, payload, actor)
    if done.won:
        return
    if done.session is State.ABANDONED and _closed_by_expiry(done):
        raise SuspensionExpired()
    if not done.outcome:
        raise ended_error(done.session)
    raise _lost(done)


def _closed_by_expiry(done: store.Resolution) -> bool:
    """Whether the wait ended as its session was abandoned: by its own deadline, or with the one that ran out."""
    if done.outcome == Outcome.TIMED_OUT:
        return done.on_expiry == "abandon"
    return not done.outcome or (done.outcome == Outcome.CANCELLED and done.by.get("kind") == SYSTEM.kind)


_DONE: dict[str, str] = {
    Outcome.ANSWERED: "Already answered by {by} at {at}.",
    Outcome.CANCELLED: "Already cancelled by {by} at {at}.",
    Outcome.TIMED_OUT: "This wait timed out at {at}: your text arrived too late and was not delivered.",
    Outcome.FIRED: "What it waited for already happened at {at}.",
    Outcome.APPROVED: "Already approved by {by} at {at}.",
    Outcome.REJECTED: "Already rejected by {by} at {at}.",
}


def _lost(done: store.Resolution) -> AlreadyAnswered:
    at = done.at or clock.db_now()
    by = str(done.by.get("by") or done.by.get("name") or "the system")
    words = _DONE[done.outcome].format(by=by, at=at.strftime("%Y-%m-%d %H:%M:%S UTC"))
    return LateAnswer(words, outcome=done.outcome, by=dict(done.by), at=at.isoformat())
