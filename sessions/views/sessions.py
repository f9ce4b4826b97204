"""The list of sessions, the form that starts one, a session's page with its live fragment and its kept results."""

import hashlib
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache

from sessions.access import access_session
from sessions.forms.start import StartForm
from sessions.models import Session
from sessions.operations.sessions import start_session
from sessions.present.header import row
from sessions.queries.agents import agent_page, agent_slugs
from sessions.queries.lists import session_page
from sessions.queries.page import whole_result
from sessions.states import WORDS
from sessions.views import page
from sessions.views.replies import number, role_of
from workspaces.actors import Actor
from workspaces.doors import console_view
from workspaces.forms import attempt
from workspaces.models import Workspace
from workspaces.roles import Need

# What can be waited for in this release, in the words of the filter.
KINDS = (
    ("ask_user", "An answer"),
    ("ask_question", "An answer with options"),
    ("unknown_outcome", "The outcome of a call"),
)


@console_view()
def listing(request: HttpRequest, workspace: Workspace, actor: Actor) -> HttpResponse:
    """The sessions of a workspace, newest first, narrowed by the query. Raises Invalid."""
    asked = request.GET
    filters = {name: asked.get(name, "").strip() for name in ("state", "agent", "waiting_kind", "needs_person", "q")}
    found = session_page(
        workspace,
        states=[filters["state"]] if filters["state"] else (),
        agent=filters["agent"] or None,
        waiting_kind=filters["waiting_kind"] or None,
        needs_person=bool(filters["needs_person"]),
        q=filters["q"],
        cursor=asked.get("before") or asked.get("after") or None,
    )
    context = page.frame(workspace) | {
        "can": page.rights(role_of(request)),
        "rows": [row(document) for document in found.items],
        "filters": filters,
        "filtered": any(filters.values()),
        "states": list(WORDS.items()),
        "agents": [(slug, slug) for slug in agent_slugs(workspace)],
        "kinds": KINDS,
        "page": {"newer": found.previous_cursor, "older": found.next_cursor},
        "socket": f"/ws/w/{workspace.slug}/sessions/",
    }
    return render(request, "sessions/list.html", context)


@console_view(need=Need.OPERATE)
def start(request: HttpRequest, workspace: Workspace, actor: Actor) -> HttpResponse:
    """Give an agent a task. The same form sent twice starts one session."""
    agents = [(one["slug"], one["name"]) for one in agent_page(workspace, limit=200).items]
    wanted = request.GET.get("agent", "")
    form = StartForm(request.POST or None, agents=agents, initial={"agent": wanted})
    if request.method == "POST":
        made = attempt(form, lambda: _start(actor, workspace, form.cleaned_data))
        if made is not None:
            return redirect("sessions:detail", workspace.slug, made.pk)
    context = page.frame(workspace) | {"can": page.rights(role_of(request)), "form": form, "agents": len(agents)}
    return render(request, "sessions/start.html", context, status=422 if form.errors else 200)


def _start(actor: Actor, workspace: Workspace, data: dict[str, Any]) -> Session:
    # The key is of the form and of what it says: a second click is the first one, a changed text is another task.
    said = "\0".join((data["agent"], data["input"], data["title"]))
    key = (
        f"form:{data['key']}:{hashlib.sha256(said.encode('utf-8', 'replace')).hexdigest()[:32]}"
        if data["key"]
        else None
    )
    return start_session(actor, workspace, data["agent"], data["input"], title=data["title"], idempotency_key=key)[0]


@console_view()
def detail(request: HttpRequest, workspace: Workspace, actor: Actor, session_id: UUID) -> HttpResponse:
    """One session: what happened beside what it waits for."""
    session = access_session(actor, session_id, workspace=workspace)
    tab = request.GET.get("tab", "")
    context = page.whole(
        session, role_of(request), tab if tab in page.TABS else page.TABS[0], number(request.GET.get("before"))
    )
    return render(request, "sessions/detail.html", context)


@never_cache
@console_view()
def live(request: HttpRequest, workspace: Workspace, actor: Actor, session_id: UUID) -> HttpResponse:
    """The news of a session after ?after=, as the out-of-band fragments that its socket sends too."""
    session = access_session(actor, session_id, workspace=workspace)
    context = page.news(session, role_of(request), number(request.GET.get("after")) or 0)
    return render(request, "sessions/_live.html", context)


@console_view()
def result(request: HttpRequest, workspace: Workspace, actor: Actor, session_id: UUID, call_id: UUID) -> HttpResponse:
    """The whole of a result that was shortened for the model, as a file; never as something a browser shows."""
    session = access_session(actor, session_id, workspace=workspace)
    response = HttpResponse(whole_result(session, str(call_id)), content_type="application/octet-stream")
    response["Content-Disposition"] = f'attachment; filename="result-{call_id}.txt"'
    response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    return response
