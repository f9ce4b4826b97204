"""The audit: who did what to what, outside of sessions (those have their journal).

Lives here: the one function that writes an entry. Invariants: it is called inside the transaction of the deed, so
there is no deed without an entry; no secret goes into `data`; the table refuses changes (see models).
"""

from typing import Any

from django.db import connection

from workspaces.actors import Actor
from workspaces.models import AuditEntry, Workspace


def record(actor: Actor, action: str, workspace: Workspace | None, target: str = "", **data: Any) -> AuditEntry:
    """Write that *actor* did *action* (like "member.added") to *target* (a name a person knows, cut at 256)."""
    assert connection.in_atomic_block, "an audit entry belongs into the transaction of its deed"
    return AuditEntry.objects.create(
        workspace=workspace,
        actor_kind=actor.kind,
        actor_id=actor.id,
        actor_name=actor.name[:150],
        actor_by=actor.by,
        action=action,
        target=target[:256],
        data=data,
    )
