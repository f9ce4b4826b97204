"""Agents and their versions over the API."""

from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Query, Router, Schema, Status
from pydantic import Field, WithJsonSchema

from sessions.api.callers import agent_of, home
from sessions.api.outputs import AgentChanged, AgentMade, AgentOut, AgentPage, VersionPage
from sessions.api.paging import Paging
from sessions.api.problems import problems
from sessions.models import Agent
from sessions.operations import agents
from sessions.queries.agents import agent_document, agent_page, agent_version, version_page
from workspaces.bodies import Decision, Sent, StrictModel
from workspaces.errors import Invalid
from workspaces.roles import Need

router = Router(tags=["agents"])

# Checked by `definitions.parse`, which also keeps 60 as 60: as a float it would be another definition.
Seconds = Annotated[Any, WithJsonSchema({"type": ["number", "null"]})]
Expiry = Annotated[
    Any, WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object", "additionalProperties": {"type": "string"}}]})
]


class SuspensionBody(StrictModel):
    """What an agent may wait for and how long (seconds; null: for ever)."""

    may_ask_questions: bool = False
    approval_expires_seconds: Seconds = 86_400
    question_expires_seconds: Seconds = 86_400
    external_expires_seconds: Seconds = 604_800
    children_expires_seconds: Seconds = 3600
    breakpoint_expires_seconds: Seconds = 86_400
    on_expiry: Expiry = Field(
        "continue", description="continue or abandon; or one of them for each of approval, question, external, …"
    )


class LimitsBody(StrictModel):
    """Bounds of one session; null: none. model_calls and running_seconds count since the last wake from outside."""

    model_calls: int | None = 48
    running_seconds: Seconds = 900
    tool_calls_per_turn: int | None = 16
    provider_retries: int | None = 8
    depth: int | None = 8
    result_bytes: int | None = 32 * 1024
    deadline_seconds: Seconds = None


class Definition(Decision):
    model: str = Field(description='"provider-slug:model-name"')
    system_prompt: str | None = None
    tools: list[str] | None = Field(
        None, description='Toolsets and tools, exceptions with a minus: ["system", "-system__inform_user"]'
    )
    suspension: SuspensionBody | None = None
    limits: LimitsBody | None = None
    script: list[Any] | None = Field(None, description="What the scripted model plays: {say?, calls?} per model call.")

    def raw(self) -> dict[str, Any]:
        """The definition as `definitions.parse` takes it: what was not given is not there."""
        names = ("model", "system_prompt", "tools", "suspension", "limits", "script")
        given = self.model_dump(include=set(names), exclude_unset=True)
        return {name: value for name, value in given.items() if value is not None}


class NewAgent(Definition):
    slug: str
    name: str | None = Field(None, description="Without it: the slug.")


class ChangedAgent(Definition):
    slug: str | None = Field(None, description="If given, the one in the address.")
    name: str | None = Field(None, description="null: as it is.")


class VersionChoice(Schema):
    version: str | None = Field(None, description="A number or a version's name; without it the newest.")


def _made(agent: Agent) -> dict[str, Any]:
    return agent_document(agent)


@router.post(
    "/agents",
    summary="Make an agent",
    response={201: AgentMade},
    openapi_extra=problems(403, 413, 422, s409="`already_exists`: the slug is taken; PUT makes a new version."),
)
def create_agent(request: HttpRequest, body: Sent[NewAgent]) -> Status[dict[str, Any]]:
    """Make an agent with its first version. Needs an admin."""
    actor, workspace = home(request, Need.ADMINISTER, body.by)
    return Status(201, _made(agents.create_agent(actor, workspace, body.slug, body.name or "", body.raw())))


@router.get("/agents", summary="List agents", response=AgentPage, openapi_extra=problems(422))
def list_agents(request: HttpRequest, paging: Query[Paging]) -> dict[str, Any]:
    """The workspace's agents, by slug."""
    _, workspace = home(request)
    return agent_page(workspace, cursor=paging.cursor or None, limit=paging.limit).as_json()


@router.get("/agents/{slug}", summary="Show an agent", response=AgentOut, openapi_extra=problems(404, 422))
def show_agent(request: HttpRequest, slug: str, choice: Query[VersionChoice]) -> dict[str, Any]:
    """An agent with its definition, of the newest version or a chosen one."""
    _, agent = agent_of(request, slug)
    return agent_document(agent, agent_version(agent, choice.version) if choice.version else None)


@router.put(
    "/agents/{slug}",
    summary="Make a new version of an agent",
    response=AgentChanged,
    openapi_extra=problems(403, 404, 413, 422),
)
def change_agent(request: HttpRequest, slug: str, body: Sent[ChangedAgent]) -> dict[str, Any]:
    """Replace the definition: a new version, unless it is the same. Sessions stay on theirs. Needs an admin."""
    actor, agent = agent_of(request, slug, Need.ADMINISTER, body.by)
    if body.slug not in (None, slug):
        raise Invalid("slug: a slug cannot be changed.")
    agent, changed = agents.update_agent(actor, agent, body.name, body.raw())
    return _made(agent) | {"changed": changed}


@router.get(
    "/agents/{slug}/versions",
    summary="List an agent's versions",
    response=VersionPage,
    openapi_extra=problems(404, 422),
)
def list_versions(request: HttpRequest, slug: str, paging: Query[Paging]) -> dict[str, Any]:
    """The versions of an agent, newest first."""
    _, agent = agent_of(request, slug)
    return version_page(agent, cursor=paging.cursor or None, limit=paging.limit).as_json()
