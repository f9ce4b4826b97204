"""Start, list and show sessions over the API, and say why one waits."""

from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Query, Router, Schema, Status
from pydantic import Field, WithJsonSchema, model_validator

from sessions.access import access_agent
from sessions.api.callers import home, session_of
from sessions.api.outputs import SessionOut, SessionPage, StatusOut
from sessions.api.problems import problems
from sessions.operations.sessions import start_session
from sessions.queries.agents import agent_version
from sessions.queries.documents import session_document
from sessions.queries.lists import session_page
from sessions.queries.status import status_document
from workspaces.bodies import Decision, Sent
from workspaces.errors import Invalid
from workspaces.models import Workspace
from workspaces.roles import Need

router = Router(tags=["sessions"], by_alias=True)

# What SPEC 14 names and this release does not have yet: better refused than silently not done.
_NOT_YET = {
    "graph": "there are no graphs in this release; start an agent.",
    "breakpoints": "there are no breakpoints in this release.",
    "step_mode": "there is no step mode in this release.",
}


class NewSession(Decision):
    agent: str
    input: str = Field(description="What the agent is asked to do.")
    title: str | None = Field(None, description="Without it: the input's first line.")
    version: Annotated[Any, WithJsonSchema({"type": ["integer", "string", "null"]})] = Field(
        None, description="A number or a version's name; without it the newest."
    )
    surface: str | None = Field(None, description="workspace")
    idempotency_key: str | None = Field(
        None, description="A session that was started with it in this workspace comes back (200), nothing new starts."
    )
    metadata: dict[str, Any] | None = None

    @model_validator(mode="before")
    @classmethod
    def _only_what_there_is(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        for name, words in _NOT_YET.items():
            if given.get(name):
                raise Invalid(f"{name}: {words}")
        return {name: value for name, value in given.items() if name not in _NOT_YET}


class SessionFilters(Schema):
    state: list[str] = Field([], description="One or several states.")
    agent: str = ""
    waiting_kind: str = Field("", description="Only sessions with an open wait of that kind.")
    needs_person: bool = Field(False, description="Only what waits for a person or is set aside.")
    q: str = Field("", description="A part of the title, or the beginning of an id; at most 200 characters.")
    cursor: str = ""
    limit: int = Field(50, ge=1, le=200)


@router.post(
    "/sessions",
    summary="Start a session",
    response={201: SessionOut, 200: SessionOut},
    openapi_extra=problems(403, 413, 422, s404="`not_found`: no such agent or version."),
)
def start(request: HttpRequest, body: Sent[NewSession]) -> Status[dict[str, Any]]:
    """Start a session: 201; 200 with the existing one if the idempotency key is known. Needs an operator."""
    actor, workspace = home(request, Need.OPERATE, body.by)
    session, created = start_session(
        actor,
        workspace,
        body.agent,
        body.input,
        title=body.title,
        version=_version(workspace, body),
        surface=body.surface or "workspace",
        idempotency_key=body.idempotency_key,
        metadata=body.metadata,
    )
    return Status(201 if created else 200, session_document(session))


def _version(workspace: Workspace, body: NewSession) -> int | None:
    if body.version is None:
        return None
    if isinstance(body.version, bool) or not isinstance(body.version, int | str):
        raise Invalid("version: a number or a version's name is expected.")
    return agent_version(access_agent(workspace, body.agent), body.version).number


@router.get("/sessions", summary="List sessions", response=SessionPage, openapi_extra=problems(422))
def list_sessions(request: HttpRequest, filters: Query[SessionFilters]) -> dict[str, Any]:
    """The workspace's sessions, newest first."""
    _, workspace = home(request)
    page = session_page(
        workspace,
        states=[state for state in filters.state if state],
        agent=filters.agent or None,
        waiting_kind=filters.waiting_kind or None,
        needs_person=filters.needs_person,
        q=filters.q,
        cursor=filters.cursor or None,
        limit=filters.limit,
    )
    return page.as_json()


@router.get("/sessions/{session}", summary="Show a session", response=SessionOut, openapi_extra=problems(404))
def show(request: HttpRequest, session: str) -> dict[str, Any]:
    """A session with its open waits."""
    return session_document(session_of(request, session)[1])


@router.get(
    "/sessions/{session}/status", summary="Say why a session waits", response=StatusOut, openapi_extra=problems(404)
)
def why(request: HttpRequest, session: str) -> dict[str, Any]:
    """Why a session waits, for whom, until when, and what it will do then."""
    return status_document(session_of(request, session)[1])
