"""What every page's frame shows: the workspace it is about, the person's workspaces, what they may do here.

Invariants: nothing is read for somebody who is not logged in, and the list of workspaces only when a template asks.
"""

from typing import Any

from django.http import HttpRequest

from workspaces.doors import actor_of
from workspaces.models import User, Workspace
from workspaces.queries import workspaces_of
from workspaces.roles import Need, Role, allows


def console(request: HttpRequest) -> dict[str, Any]:
    """For the templates: `workspace` and `role` (None outside of one), `can.read|operate|decide|administer`,
    `workspaces` (the person's, by slug) and `memberships` (the same as (workspace, role))."""
    workspace: Workspace | None = getattr(request, "workspace", None)
    role: Role | None = getattr(request, "role", None)

    def memberships() -> list[tuple[Workspace, Role]]:
        known = isinstance(getattr(request, "user", None), User)
        return workspaces_of(actor_of(request)) if known else []

    return {
        "workspace": workspace,
        "role": role,
        "can": {need.value: role is not None and allows(role, need) for need in Need},
        "memberships": memberships,
        "workspaces": lambda: [workspace for workspace, _ in memberships()],
    }
