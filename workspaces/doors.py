"""What every door of the console stands on: who is asking, and may they come in.

Lives here: `actor_of` and the two decorators all console views wear. May not: know a page. Invariants: a view that
wears one is never reached without a login; one with `console_view` never without its right in its workspace; a
viewer's right is never enough for a request that changes something.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponseBase, HttpResponseNotAllowed

from workspaces.access import admit
from workspaces.actors import Actor
from workspaces.errors import Forbidden
from workspaces.models import User, Workspace
from workspaces.roles import Need, Role

WorkspaceView = Callable[Concatenate[HttpRequest, Workspace, Actor, ...], HttpResponseBase]
PersonView = Callable[Concatenate[HttpRequest, Actor, ...], HttpResponseBase]
View = Callable[..., HttpResponseBase]
SAFE = ("GET", "HEAD", "OPTIONS")


def actor_of(request: HttpRequest) -> Actor:
    """The logged-in person as an actor. Raises Forbidden where nobody is logged in."""
    if not isinstance(request.user, User) or not request.user.is_active:
        raise Forbidden("Log in first.")
    return Actor.for_user(request.user)


def console_view(
    need: Need = Need.READ, write: Need | None = None, only_post: bool = False
) -> Callable[[WorkspaceView], View]:
    """Make `view(request, workspace, actor, …)` of a URL with `<slug:slug>` (the workspace's; not passed on).

    *need* is asked of every request; *write*, where given, of those that change something (all but GET, HEAD,
    OPTIONS). A view that asks only READ and names no *write* answers such a request with 405; a view that acts whatever
    the method wears *only_post* and answers all others with 405, because a GET never decides anything.

        @console_view(write=Need.OPERATE)
        def upload(request: HttpRequest, workspace: Workspace, actor: Actor, path: str) -> HttpResponse: ...

    Raises NotFound or Forbidden (config's middleware puts them as a page). Sets `request.workspace`, `request.role`
    for the context processor.
    """

    def wear(view: WorkspaceView) -> View:
        @wraps(view)
        def inner(request: HttpRequest, slug: str, **kwargs: Any) -> HttpResponseBase:
            if only_post and request.method != "POST":
                return HttpResponseNotAllowed(["POST"])
            needed = need if request.method in SAFE else write or need
            if needed is Need.READ and request.method not in SAFE:
                return HttpResponseNotAllowed(SAFE)
            actor = actor_of(request)
            workspace, role = admit(actor, slug, needed)
            _remember(request, workspace, role)
            return view(request, workspace, actor, **kwargs)

        return login_required(inner)

    return wear


def person_view(view: PersonView) -> View:
    """Make `view(request, actor, …)` of a page that belongs to no workspace: anybody who is logged in."""

    @wraps(view)
    def inner(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        return view(request, actor_of(request), **kwargs)

    return login_required(inner)


def _remember(request: HttpRequest, workspace: Workspace, role: Role) -> None:
    request.workspace = workspace  # type: ignore[attr-defined]
    request.role = role  # type: ignore[attr-defined]
