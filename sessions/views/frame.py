"""The numbers in the frame of every page of a workspace, for pages of any room.

A context processor (settings, TEMPLATES): what it gives is read only when a template asks, once per page.
"""

from functools import cache
from typing import Any

from django.http import HttpRequest

from sessions.queries import page
from workspaces.models import Workspace


def rail(request: HttpRequest) -> dict[str, Any]:
    """For the templates: `needs`, what needs a person here, and `workers` {alive, busy, slots, parked} or None."""
    workspace = getattr(request, "workspace", None)
    if not isinstance(workspace, Workspace):
        return {}

    @cache
    def found() -> page.Rail:
        return page.rail(workspace)

    return {"needs": lambda: found().needs, "workers": lambda: found() if found().alive else None}
