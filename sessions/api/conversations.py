"""What was said in a session, and its journal, over the API."""

from typing import Any

from django.http import HttpRequest
from ninja import Query, Router, Schema, Status
from pydantic import Field

from sessions.api.acts import ENDED_409, Text, done
from sessions.api.callers import session_of
from sessions.api.outputs import EntryPage, MessagePage, SessionOut
from sessions.api.problems import problems
from sessions.operations.sessions import steer_session
from sessions.queries.conversation import journal_page, message_page
from workspaces.bodies import Sent
from workspaces.roles import Need

router = Router(tags=["sessions"], by_alias=True)


class MessagePlace(Schema):
    after: int = Field(0, ge=0, le=2**62, description="Only messages with a higher number.")
    cursor: str = ""
    limit: int = Field(200, ge=1, le=500)


class EntryPlace(Schema):
    after: int = Field(0, ge=0, le=2**62, description="Only entries with a higher number.")
    cursor: str = ""
    limit: int = Field(200, ge=1, le=900)


@router.get(
    "/sessions/{session}/messages", summary="List messages", response=MessagePage, openapi_extra=problems(404, 422)
)
def list_messages(request: HttpRequest, session: str, place: Query[MessagePlace]) -> dict[str, Any]:
    """The conversation, oldest first. An assistant message with k calls at n owns the numbers n to n+k; a result's
    number is missing until the call has one. `limit` counts messages without results."""
    _, found = session_of(request, session)
    page = message_page(found, after=place.after, cursor=place.cursor or None, limit=place.limit)
    return page.as_json() | {"items": [item.as_json() for item in page.items]}


@router.post(
    "/sessions/{session}/messages",
    summary="Send a message",
    response={202: SessionOut},
    openapi_extra=problems(403, 404, 413, 422, s409=ENDED_409),
)
def send(request: HttpRequest, session: str, body: Sent[Text]) -> Status[dict[str, Any]]:
    """Send a message for the next turn; it never answers a question. Needs an operator."""
    actor, found = session_of(request, session, Need.OPERATE, body.by)
    steer_session(actor, found, body.text)
    return done(found)


@router.get(
    "/sessions/{session}/journal", summary="List the journal", response=EntryPage, openapi_extra=problems(404, 422)
)
def list_journal(request: HttpRequest, session: str, place: Query[EntryPlace]) -> dict[str, Any]:
    """What happened to the session, in order; the numbers have no gaps."""
    _, found = session_of(request, session)
    page = journal_page(found, after=place.after, cursor=place.cursor or None, limit=place.limit)
    return page.as_json() | {"items": [item.as_json() for item in page.items]}
