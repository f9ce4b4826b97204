"""How a door gets a session, an agent or a provider: fetched and authorised in one. A foreign row is a missing one."""

from uuid import UUID

from sessions.models import Agent, Provider, Session
from workspaces import access
from workspaces.actors import Actor
from workspaces.errors import NotFound
from workspaces.ids import parse_id
from workspaces.models import Workspace
from workspaces.roles import Need


def access_session(
    actor: Actor, session: str | UUID, need: Need = Need.READ, workspace: Workspace | None = None
) -> Session:
    """The session if *actor* may do *need* in its workspace (and it is in *workspace*, where given).

    Raises NotFound (foreign, missing, not an id) or Forbidden.
    """
    id_ = parse_id(str(session))
    found = (
        Session.objects.select_related("workspace", "version__agent", "text").filter(pk=id_).first() if id_ else None
    )
    if found is None or (workspace is not None and found.workspace_id != workspace.pk):
        raise NotFound("There is no such session.")
    try:
        access.require(actor, found.workspace, need)
    except NotFound:
        raise NotFound("There is no such session.") from None
    return found


def access_agent(workspace: Workspace, slug: str) -> Agent:
    """The agent *slug* of a workspace the door has authorised. Raises NotFound."""
    agent = Agent.objects.select_related("current").filter(workspace=workspace, slug=slug).first()
    if agent is None:
        raise NotFound(f"There is no agent {slug[:80]!r} in this workspace.")
    return agent


def access_provider(workspace: Workspace, slug: str) -> Provider:
    """The provider *slug* of a workspace the door has authorised. Raises NotFound."""
    provider = Provider.objects.filter(workspace=workspace, slug=slug).first()
    if provider is None:
        raise NotFound(f"There is no model provider {slug[:80]!r} in this workspace.")
    return provider
