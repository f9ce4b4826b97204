"""API tokens of a workspace: issued and revoked by its admins; a token's text is shown once, in the answer itself."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache

from workspaces import operations, queries
from workspaces.access import access_token, is_superuser
from workspaces.actors import Actor
from workspaces.doors import console_view
from workspaces.forms import TokenForm, attempt
from workspaces.models import Workspace
from workspaces.roles import Need


@never_cache
@console_view(Need.ADMINISTER)
def listing(request: HttpRequest, workspace: Workspace, actor: Actor) -> HttpResponse:
    """The tokens; a POST issues one. No redirect after it: the text must not be kept anywhere to be shown later."""
    superuser = is_superuser(actor)
    form = TokenForm(request.POST or None, superuser=superuser)
    issued = raw = None
    if request.method == "POST":
        made = attempt(form, lambda: operations.issue_token(actor, workspace, **form.cleaned_data))
        if made is not None:
            issued, raw = made
            form = TokenForm(superuser=superuser)
    context = {"tokens": queries.tokens(workspace), "form": form, "issued": issued, "raw": raw}
    return render(request, "workspaces/tokens.html", context, status=422 if form.errors else 200)


@console_view(Need.ADMINISTER)
def one(request: HttpRequest, workspace: Workspace, actor: Actor, token_id: str) -> HttpResponse:
    """One token, without its text."""
    return render(request, "workspaces/token.html", {"token": access_token(workspace, token_id)})


@console_view(Need.ADMINISTER, only_post=True)
def revoke(request: HttpRequest, workspace: Workspace, actor: Actor, token_id: str) -> HttpResponse:
    """End a token at once."""
    token = operations.revoke_token(actor, workspace, token_id)
    messages.success(request, f"The token {token.name} does not work any more.")
    return redirect("workspaces:tokens", workspace.slug)
