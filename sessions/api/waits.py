"""The waits of a session over the API: list, the pending question, answer, cancel one, settle an unknown outcome."""

from typing import Any

from django.http import HttpRequest
from ninja import Query, Router, Status
from pydantic import Field

from sessions.api.acts import Reason
from sessions.api.callers import session_of
from sessions.api.outputs import PendingOut, WaitDone, WaitPage
from sessions.api.paging import Paging
from sessions.api.problems import problems
from sessions.errors import AmbiguousWait
from sessions.models import Session, Yield
from sessions.operations import answers
from sessions.queries.documents import text_of
from sessions.queries.waits import open_questions, pending_document, state_now, wait_page
from sessions.states import Outcome
from workspaces.bodies import Decision, Sent
from workspaces.errors import NotFound
from workspaces.roles import Need

router = Router(tags=["waits"], by_alias=True)

ANSWERED_409 = (
    "`already_answered`: somebody was first (`outcome`, `by`, `at` say who; your text is kept in the journal, not "
    "delivered) · `suspension_expired`: its deadline has passed and its session was abandoned · `ended`"
)


class Answer(Decision):
    response: Any = Field(description="What fits the question: text, or what its response_schema asks for.")
    tool_call_id: str | None = Field(None, description="Our id of the call that asked.")
    wait: str | None = Field(None, alias="yield", description="The yield's id.")


class Settlement(Reason):
    outcome: str = Field(description="succeeded, failed or rerun")
    result: Any = Field(None, description="What the agent reads as the call's result.")


@router.get("/sessions/{session}/yields", summary="List waits", response=WaitPage, openapi_extra=problems(404, 422))
def list_yields(request: HttpRequest, session: str, paging: Query[Paging]) -> dict[str, Any]:
    """All waits: the open ones first (oldest first), then the ended ones, newest first."""
    _, found = session_of(request, session)
    return wait_page(found, cursor=paging.cursor or None, limit=paging.limit).as_json()


@router.get(
    "/sessions/{session}/ask_user/pending",
    summary="Show the open question",
    response=PendingOut,
    openapi_extra=problems(
        s404="`not_found`: no such session, or no question is open.",
        s409="`ambiguous_wait`: several are open; `yields` has their ids.",
    ),
)
def pending(request: HttpRequest, session: str) -> dict[str, Any]:
    """The one open question."""
    _, found = session_of(request, session)
    waits = open_questions(found)
    if not waits:
        raise NotFound("No question is open in this session.")
    if len(waits) > 1:
        raise AmbiguousWait(yields=[str(wait.pk) for wait in waits])
    return pending_document(waits[0])


@router.post(
    "/sessions/{session}/ask_user/respond",
    summary="Answer a question",
    response={202: WaitDone},
    openapi_extra=problems(
        403,
        404,
        413,
        s409=f"{ANSWERED_409} · `ambiguous_wait`: several questions are open, name one (`yields`) · `not_waiting`",
        s422="`schema_violation`: the answer does not fit, the session goes on waiting · `wrong_kind` · `invalid`",
    ),
)
def respond(request: HttpRequest, session: str, body: Sent[Answer]) -> Status[dict[str, Any]]:
    """Answer a question, named by `yield` or `tool_call_id`, or the only open one. The first answer wins.

    Needs an operator.
    """
    actor, found = session_of(request, session, Need.OPERATE, body.by)
    wait = answers.answer(actor, found, body.response, body.wait, body.tool_call_id)
    return _done(found, wait, Outcome.ANSWERED)


@router.post(
    "/sessions/{session}/yields/{wait}/cancel",
    summary="Cancel a wait",
    response={202: WaitDone},
    openapi_extra=problems(403, 404, 413, 422, s409=ANSWERED_409),
)
def cancel_wait(request: HttpRequest, session: str, wait: str, body: Sent[Reason]) -> Status[dict[str, Any]]:
    """Cancel one wait, not the session: the agent is told by whom and why, and its turn goes on. Needs an operator."""
    actor, found = session_of(request, session, Need.OPERATE, body.by)
    return _done(found, answers.cancel_wait(actor, found, wait, body.reason or ""), Outcome.CANCELLED)


@router.post(
    "/sessions/{session}/yields/{wait}/settle",
    summary="Settle an unknown outcome",
    response={202: WaitDone},
    openapi_extra=problems(403, 404, 413, s409=ANSWERED_409, s422="`wrong_kind`: no unknown outcome · `invalid`"),
)
def settle(request: HttpRequest, session: str, wait: str, body: Sent[Settlement]) -> Status[dict[str, Any]]:
    """Say how a call ended whose worker died while it ran, or have it run again.

    Needs an operator; an approver if the call was gated.
    """
    actor, found = session_of(request, session, Need.OPERATE, body.by)
    settled = answers.settle_unknown(actor, found, wait, body.outcome, body.result, body.reason or "")
    return _done(found, settled, Outcome.ANSWERED)


def _done(session: Session, wait: Yield, outcome: Outcome) -> Status[dict[str, Any]]:
    shown = {"yield": str(wait.pk), "tool_call_id": text_of(wait.call), "outcome": str(outcome)}
    return Status(202, {**shown, "session": str(session.pk), "state": state_now(session.pk)})
