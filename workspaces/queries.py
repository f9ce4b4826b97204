"""What pages and the API read about people and workspaces. May not: change anything, or decide who may see it."""

from django.db.models import QuerySet

from workspaces.actors import Actor
from workspaces.models import ApiToken, AuditEntry, Membership, Notification, Workspace
from workspaces.roles import Role


def workspaces_of(actor: Actor) -> list[tuple[Workspace, Role]]:
    """The workspaces *actor* is in, by slug, with the role there; all of them for a superuser, as admin."""
    if actor.kind == "token":
        tokens = ApiToken.objects.filter(pk=actor.row_id, revoked_at=None).select_related("workspace")
        return [(token.workspace, Role(token.role)) for token in tokens]
    if actor.superuser or actor.kind == "system":
        return [(workspace, Role.ADMIN) for workspace in Workspace.objects.order_by("slug")]
    memberships = (
        Membership.objects.filter(user_id=actor.row_id).select_related("workspace").order_by("workspace__slug")
    )
    return [(membership.workspace, Role(membership.role)) for membership in memberships]


def members(workspace: Workspace) -> QuerySet[Membership]:
    """The members of *workspace* with their users, by username."""
    return Membership.objects.filter(workspace=workspace).select_related("user").order_by("user__username")


def tokens(workspace: Workspace) -> QuerySet[ApiToken]:
    """The tokens of *workspace*, newest first, the revoked ones too."""
    return ApiToken.objects.filter(workspace=workspace).order_by("-id")


def notifications(workspace: Workspace, limit: int = 20) -> QuerySet[Notification]:
    """The newest notices of *workspace*."""
    return Notification.objects.filter(workspace=workspace).order_by("-id")[:limit]


def audit_entries(workspace: Workspace, limit: int = 50) -> QuerySet[AuditEntry]:
    """The newest audit entries of *workspace*."""
    return AuditEntry.objects.filter(workspace=workspace).order_by("-id")[:limit]
