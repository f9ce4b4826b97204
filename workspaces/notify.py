"""Telling a workspace's people something: one way, waits for nobody.

Lives here: writing a notice. Invariant: the notice is a row of the caller's transaction; delivery elsewhere comes
after the commit and never undoes it.
"""

from uuid import UUID

from workspaces.errors import Invalid
from workspaces.ids import new_id
from workspaces.models import Membership, Notification, Workspace

MAX_MESSAGE = 8000


def inform(
    workspace: Workspace | UUID,
    message: str,
    session_id: UUID | None = None,
    level: str = Notification.Level.INFO,
    id_: UUID | None = None,
) -> int:
    """Put *message* (1..8000 characters) into the workspace's notices. Returns how many people have it. Raises Invalid.

    The number is the active members who see the list. With a known `id_` nothing is published twice.
    """
    if not message.strip() or len(message) > MAX_MESSAGE:
        raise Invalid(f"A message has 1 to {MAX_MESSAGE} characters.")
    workspace_id = workspace.pk if isinstance(workspace, Workspace) else workspace
    notice = {"workspace_id": workspace_id, "session_id": session_id, "message": message, "level": level}
    Notification.objects.get_or_create(id=id_ or new_id(), defaults=notice)
    return Membership.objects.filter(workspace_id=workspace_id, user__is_active=True).count()
