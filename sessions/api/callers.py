"""Who calls and what they may touch: every route begins with one of these."""

from uuid import UUID

from django.http import HttpRequest

from sessions.access import access_agent, access_provider, access_session
from sessions.models import Agent, Provider, Session
from workspaces.access import access_token_workspace
from workspaces.actors import Actor
from workspaces.errors import NotFound
from workspaces.models import Workspace
from workspaces.roles import Need
from workspaces.values import clean_text


def caller(request: HttpRequest, by: str | None = None) -> Actor:
    """The token's actor, with `by` as the call gave it. Raises Invalid."""
    actor: Actor = request.auth  # type: ignore[attr-defined]  # put there by the API's bearer check
    return actor.with_by(by) if by else actor


def home(request: HttpRequest, need: Need = Need.READ, by: str | None = None) -> tuple[Actor, Workspace]:
    """The caller and the workspace of the token, if its role is enough. Raises Forbidden, NotFound, Invalid."""
    actor = caller(request, by)
    return actor, access_token_workspace(actor, need)


def session_of(
    request: HttpRequest, session: str | UUID, need: Need = Need.READ, by: str | None = None
) -> tuple[Actor, Session]:
    """The caller and a session they may do *need* to. Raises NotFound, Forbidden, Invalid."""
    actor = caller(request, by)
    return actor, access_session(actor, session, need)


def agent_of(request: HttpRequest, slug: str, need: Need = Need.READ, by: str | None = None) -> tuple[Actor, Agent]:
    """The caller and an agent of the token's workspace. Raises NotFound, Forbidden, Invalid."""
    actor, workspace = home(request, need, by)
    return actor, access_agent(workspace, _storable(slug))


def provider_of(
    request: HttpRequest, slug: str, need: Need = Need.READ, by: str | None = None
) -> tuple[Actor, Provider]:
    """The caller and a model provider of the token's workspace. Raises NotFound, Forbidden, Invalid."""
    actor, workspace = home(request, need, by)
    return actor, access_provider(workspace, _storable(slug))


def _storable(slug: str) -> str:
    # NUL in an address would fail in the database instead of finding nothing.
    if clean_text(slug) != slug:
        raise NotFound
    return slug
