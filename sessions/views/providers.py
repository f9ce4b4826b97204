"""Model providers: where models are called. A key is written and never shown."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from sessions.access import access_provider
from sessions.forms.provider import ProviderForm
from sessions.models import Provider
from sessions.operations.providers import create_provider, update_provider
from sessions.queries.editing import provider_rows
from sessions.views import page
from sessions.views.replies import role_of
from workspaces.actors import Actor
from workspaces.doors import console_view
from workspaces.forms import attempt
from workspaces.models import Workspace
from workspaces.roles import Need


@console_view()
def listing(request: HttpRequest, workspace: Workspace, actor: Actor) -> HttpResponse:
    """The providers of a workspace."""
    rows = [
        {"slug": one.slug, "kind": one.kind, "base_url": one.base_url, "has_key": bool(one.api_key), "agents": agents}
        for one, agents in provider_rows(workspace)
    ]
    return render(request, "sessions/providers/list.html", _frame(request, workspace) | {"providers": rows})


@console_view(need=Need.ADMINISTER)
def new(request: HttpRequest, workspace: Workspace, actor: Actor) -> HttpResponse:
    """Add a provider."""
    form = ProviderForm(request.POST or None, kinds=list(settings.MODEL_PROVIDERS), new=True)
    if request.method == "POST":
        made = attempt(form, lambda: _create(actor, workspace, form))
        if made is not None:
            messages.success(request, f"The provider {made.slug} is ready.")
            return redirect("sessions:providers", workspace.slug)
    return _editor(request, workspace, None, form)


def _create(actor: Actor, workspace: Workspace, form: ProviderForm) -> Provider:
    data = form.cleaned_data
    return create_provider(actor, workspace, data["slug"], data["kind"], data["base_url"], form.key or "")


@console_view(need=Need.ADMINISTER)
def edit(request: HttpRequest, workspace: Workspace, actor: Actor, provider_slug: str) -> HttpResponse:
    """Change where a provider is, or its key."""
    provider = access_provider(workspace, provider_slug)
    form = ProviderForm(
        request.POST or None,
        kinds=list(settings.MODEL_PROVIDERS),
        new=False,
        has_key=bool(provider.api_key),
        kind=provider.kind,
        base_url=provider.base_url,
    )
    if request.method == "POST":
        saved = attempt(form, lambda: update_provider(actor, provider, form.cleaned_data["base_url"], form.key))
        if saved is not None:
            messages.success(request, f"The provider {provider.slug} is saved.")
            return redirect("sessions:providers", workspace.slug)
    return _editor(request, workspace, provider, form)


def _editor(request: HttpRequest, workspace: Workspace, provider: Provider | None, form: ProviderForm) -> HttpResponse:
    known = {"slug": provider.slug, "has_key": bool(provider.api_key)} if provider is not None else None
    context = _frame(request, workspace) | {"provider": known, "form": form}
    return render(request, "sessions/providers/edit.html", context, status=422 if form.errors else 200)


def _frame(request: HttpRequest, workspace: Workspace) -> dict[str, Any]:
    return page.frame(workspace) | {"can": page.rights(role_of(request))}
