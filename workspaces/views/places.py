"""Where one is: the root, the list of workspaces, a workspace's overview."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect, render

from workspaces import operations, queries
from workspaces.access import is_superuser
from workspaces.actors import Actor
from workspaces.doors import console_view, person_view
from workspaces.forms import WorkspaceForm, attempt
from workspaces.models import Workspace


@person_view
def root(request: HttpRequest, actor: Actor) -> HttpResponse:
    """The person's first workspace; without one, the list that says what to do."""
    mine = queries.workspaces_of(actor)
    if not mine:
        return redirect("workspaces:list")
    return redirect(getattr(settings, "WORKSPACE_HOME", "workspaces:home"), mine[0][0].slug)


@person_view
def listing(request: HttpRequest, actor: Actor) -> HttpResponse:
    """The person's workspaces; a superuser makes new ones here."""
    may_create = is_superuser(actor)
    form = WorkspaceForm(request.POST or None) if may_create else None
    status = 200
    if request.method == "POST":
        if form is None:
            return HttpResponseNotAllowed(["GET"])
        made = attempt(form, lambda: operations.create_workspace(actor, **form.cleaned_data))
        if made is not None:
            messages.success(request, f"The workspace {made.name} is ready.")
            return redirect("workspaces:home", made.slug)
        status = 422
    context = {"mine": queries.workspaces_of(actor), "form": form}
    return render(request, "workspaces/list.html", context, status=status)


@console_view()
def home(request: HttpRequest, workspace: Workspace, actor: Actor) -> HttpResponse:
    """What a workspace is and what was said and done in it lately."""
    context = {
        "members": queries.members(workspace),
        "notices": queries.notifications(workspace),
        "audit_entries": queries.audit_entries(workspace, 15),
    }
    return render(request, "workspaces/home.html", context)
