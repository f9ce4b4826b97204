"""How the session page answers a POST: fragments to htmx, a page or a redirect to a plain form. Rendering only."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string

from sessions.access import access_session
from sessions.models import Session
from sessions.present.cards import Entered
from sessions.views import page
from workspaces.actors import Actor
from workspaces.errors import LaybyError
from workspaces.models import Workspace
from workspaces.roles import Role


def is_fragment(request: HttpRequest) -> bool:
    """Whether htmx asked, for fragments."""
    return bool(request.headers.get("HX-Request")) and request.headers.get("HX-Boosted") != "true"


def number(text: str | None) -> int | None:
    """The number in *text*; None where there is none that a cursor could be."""
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < 19 else None


def role_of(request: HttpRequest) -> Role:
    """The role with which `console_view` let the person in."""
    return request.role  # type: ignore[attr-defined,no-any-return]


def done(request: HttpRequest, workspace: Workspace, actor: Actor, session_id: UUID, said: str) -> HttpResponse:
    """What happened: the news of the page, or its address with *said* as a message."""
    if not is_fragment(request):
        messages.success(request, said)
        return redirect("sessions:detail", workspace.slug, session_id)
    session = access_session(actor, session_id, workspace=workspace)
    return _news(request, session, 200)


def refused(
    request: HttpRequest, workspace: Workspace, actor: Actor, session_id: UUID, error: LaybyError
) -> HttpResponse:
    """What did not happen and why, with how the session stands now."""
    session = access_session(actor, session_id, workspace=workspace)
    if not is_fragment(request):
        messages.error(request, error.message)
        return _whole(request, session, error.status)
    context = {"message": error.message, "code": error.code, "status": error.status}
    return _news(request, session, error.status, render_to_string("components/error.html", context, request))


def too_late(
    request: HttpRequest, workspace: Workspace, actor: Actor, session_id: UUID, wait: UUID, error: LaybyError, text: str
) -> HttpResponse:
    """Somebody or the clock was first: what was typed is handed back, the page shows who won."""
    session = access_session(actor, session_id, workspace=workspace)
    late = {"id": str(wait), "message": error.message, "text": text}
    if not is_fragment(request):
        return _whole(request, session, error.status, late=late)
    block = render_to_string("sessions/_late.html", {"late": late, "oob": True}, request)
    return _news(request, session, error.status, block)


def mistaken(
    request: HttpRequest, workspace: Workspace, actor: Actor, session_id: UUID, wait: UUID, entered: Entered
) -> HttpResponse:
    """The card again with what was entered and what is wrong with it, 422; nothing was changed."""
    session = access_session(actor, session_id, workspace=workspace)
    cards = {str(wait): entered}
    if not is_fragment(request):
        return _whole(request, session, 422, cards)
    context = page.news(session, role_of(request), None, cards)
    card = next((found for found in context["waits"] if found["id"] == str(wait)), None)
    if card is None:  # closed in this very moment
        return _news(request, session, 422)
    return render(request, "sessions/_wait.html", {**context, "wait": card, "oob": True}, status=422)


def _news(request: HttpRequest, session: Session, status: int, more: str = "") -> HttpResponse:
    context = page.news(session, role_of(request), number(request.POST.get("after")))
    body = render_to_string("sessions/_live.html", context, request)
    return HttpResponse(body + more, status=status)


def _whole(
    request: HttpRequest, session: Session, status: int, entered: page.Cards | None = None, **more: Any
) -> HttpResponse:
    # The address is the form's: the frame could not tell from it where this is.
    context = page.whole(session, role_of(request), entered=entered) | {"section": "sessions"} | more
    return render(request, "sessions/detail.html", context, status=status)
