"""What a caller does to a session's course: cancel, pause, resume, retry, steer."""

from typing import Any

from django.http import HttpRequest
from ninja import Router, Status
from pydantic import Field

from sessions.api.callers import session_of
from sessions.api.outputs import SessionOut
from sessions.api.problems import problems
from sessions.models import Session
from sessions.operations import sessions
from sessions.queries.documents import document_by_id
from workspaces.bodies import Decision, Sent
from workspaces.roles import Need

router = Router(tags=["sessions"], by_alias=True)

ENDED_409 = "`ended`: the session has ended; `state` says how."
STATE_409 = "`ended`, or `wrong_state`: that cannot be done to a session in its state."


class Reason(Decision):
    reason: str | None = Field(None, description="At most 2000 characters.")


class Text(Decision):
    text: str = Field(description="At most 32,000 characters.")


def done(session: Session) -> Status[dict[str, Any]]:
    """202 with the session as it is now."""
    return Status(202, document_by_id(session.pk))


@router.post(
    "/sessions/{session}/cancel",
    summary="Cancel a session",
    response={202: SessionOut},
    openapi_extra=problems(403, 404, 413, 422, s409=ENDED_409),
)
def cancel(request: HttpRequest, session: str, body: Sent[Reason]) -> Status[dict[str, Any]]:
    """End the session at once, from any state. Needs an operator."""
    actor, found = session_of(request, session, Need.OPERATE, body.by)
    sessions.cancel_session(actor, found, body.reason or "")
    return done(found)


@router.post(
    "/sessions/{session}/pause",
    summary="Pause a session",
    response={202: SessionOut},
    openapi_extra=problems(403, 404, 413, 422, s409=STATE_409),
)
def pause(request: HttpRequest, session: str, body: Sent[Decision]) -> Status[dict[str, Any]]:
    """Pause it now, or at the running worker's next safe point (`pause_requested`). Needs an operator."""
    actor, found = session_of(request, session, Need.OPERATE, body.by)
    sessions.pause_session(actor, found)
    return done(found)


@router.post(
    "/sessions/{session}/resume",
    summary="Resume a session",
    response={202: SessionOut},
    openapi_extra=problems(403, 404, 413, 422, s409=STATE_409),
)
def resume(request: HttpRequest, session: str, body: Sent[Decision]) -> Status[dict[str, Any]]:
    """End a pause. Needs an operator."""
    actor, found = session_of(request, session, Need.OPERATE, body.by)
    sessions.resume_session(actor, found)
    return done(found)


@router.post(
    "/sessions/{session}/retry",
    summary="Retry a session",
    response={202: SessionOut},
    openapi_extra=problems(403, 404, 413, 422, s409="`wrong_state`: it has neither failed nor been cancelled."),
)
def retry(request: HttpRequest, session: str, body: Sent[Decision]) -> Status[dict[str, Any]]:
    """Let a failed, cancelled or set-aside session go on in place; recorded results are kept. Needs an operator."""
    actor, found = session_of(request, session, Need.OPERATE, body.by)
    sessions.retry_session(actor, found)
    return done(found)


@router.post(
    "/sessions/{session}/steer",
    summary="Steer a session",
    response={202: SessionOut},
    openapi_extra=problems(403, 404, 413, 422, s409=ENDED_409),
)
def steer(request: HttpRequest, session: str, body: Sent[Text]) -> Status[dict[str, Any]]:
    """Send a message for the next turn; it never answers a question. Needs an operator."""
    actor, found = session_of(request, session, Need.OPERATE, body.by)
    sessions.steer_session(actor, found, body.text)
    return done(found)
