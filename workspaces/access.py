"""Who may do what where: the one authorisation function for console, API, socket, link and bulk.

Lives here: turning an actor and a workspace into a role, and the `access_*` functions, the only way a door gets a
workspace. May not: know a request. Invariants: a foreign workspace looks exactly like a missing one; every answer is
read from the database at that moment, never from what the actor once was (sockets ask again at each send).
"""

from uuid import UUID

from workspaces.actors import Actor
from workspaces.errors import Forbidden, NotFound
from workspaces.ids import parse_id
from workspaces.models import ApiToken, Membership, User, Workspace
from workspaces.roles import Need, Role, allows


def role_in(actor: Actor, workspace: Workspace | UUID) -> Role | None:
    """What *actor* is in *workspace* (or its id) now; None is a stranger. One query, two for a superuser's answer.

    A superuser is an admin everywhere; so is the system. A token is something only in its own workspace.
    """
    workspace_id = workspace.pk if isinstance(workspace, Workspace) else workspace
    if actor.kind == "system":
        return Role.ADMIN
    if actor.kind == "token":
        tokens = ApiToken.objects.filter(pk=actor.row_id, workspace_id=workspace_id, revoked_at=None)
        return _first_role(list(tokens.values_list("role", flat=True)))
    if actor.superuser and is_superuser(actor):
        return Role.ADMIN
    members = Membership.objects.filter(user_id=actor.row_id, workspace_id=workspace_id, user__is_active=True)
    return _first_role(list(members.values_list("role", flat=True)))


def _first_role(roles: list[str]) -> Role | None:
    return Role(roles[0]) if roles else None


def is_superuser(actor: Actor) -> bool:
    """Whether *actor* may act on what belongs to no workspace: an active superuser, their token, the system."""
    if actor.kind == "system":
        return True
    if actor.kind == "user":
        return User.objects.filter(pk=actor.row_id, is_active=True, is_superuser=True).exists()
    token = ApiToken.objects.filter(pk=actor.row_id, revoked_at=None, creates_workspaces=True).first()
    if token is None:
        return False
    # The right lives only as long as its maker has it; a token from the command line has the system as maker.
    maker = token.created_by
    return maker.get("kind") == "system" or is_superuser(Actor("user", maker.get("id"), maker.get("name", "")))


def require(actor: Actor, workspace: Workspace | UUID, need: Need) -> Role:
    """The actor's role in *workspace* if it is enough for *need*. Raises NotFound for a stranger, else Forbidden."""
    role = role_in(actor, workspace)
    if role is None:
        raise NotFound("There is no such workspace.")
    if not allows(role, need):
        raise Forbidden(f"This needs more than the role {role.value} that you have in this workspace.")
    return role


def require_superuser(actor: Actor) -> None:
    """Raises Forbidden unless *actor* is a superuser."""
    if not is_superuser(actor):
        raise Forbidden("Only a superuser may do this.")


def admit(actor: Actor, slug: str, need: Need = Need.READ) -> tuple[Workspace, Role]:
    """The workspace *slug* and the actor's role in it. Raises NotFound (foreign or missing) or Forbidden."""
    workspace = Workspace.objects.filter(slug=slug).first()
    if workspace is None:
        raise NotFound("There is no such workspace.")
    return workspace, require(actor, workspace, need)


def access_workspace(actor: Actor, slug: str, need: Need = Need.READ) -> Workspace:
    """The workspace *slug* if *actor* may do *need* there. Raises NotFound (foreign or missing) or Forbidden."""
    return admit(actor, slug, need)[0]


def access_member(workspace: Workspace, username: str) -> Membership:
    """The membership of *username* in *workspace*. Raises NotFound for a stranger as for nobody."""
    found = Membership.objects.select_related("user").filter(workspace=workspace, user__username__iexact=username)
    membership = found.first()
    if membership is None:
        raise NotFound("There is no such member.")
    return membership


def access_token(workspace: Workspace, token_id: str) -> ApiToken:
    """The token *token_id* of *workspace*. Raises NotFound for a foreign one as for a missing one."""
    key = parse_id(token_id)
    token = ApiToken.objects.filter(pk=key, workspace=workspace).first() if key else None
    if token is None:
        raise NotFound("There is no such token.")
    return token


def access_token_workspace(actor: Actor, need: Need = Need.READ) -> Workspace:
    """The workspace a token belongs to, which is the one its API calls are about. Raises NotFound or Forbidden."""
    workspace = Workspace.objects.filter(pk=actor.token_workspace).first() if actor.token_workspace else None
    if workspace is None:
        raise NotFound("There is no such workspace.")
    require(actor, workspace, need)
    return workspace
