"""The members of a workspace: seen by all of them, changed by its admins."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters

from workspaces import operations, queries
from workspaces.access import access_member
from workspaces.actors import Actor
from workspaces.doors import console_view
from workspaces.forms import AddMemberForm, NewPersonForm, RoleForm, attempt
from workspaces.models import Membership, Workspace
from workspaces.roles import Need


@console_view()
def listing(request: HttpRequest, workspace: Workspace, actor: Actor) -> HttpResponse:
    """Who is in the workspace, as what."""
    return _page(request, workspace)


@console_view(Need.ADMINISTER, only_post=True)
def add(request: HttpRequest, workspace: Workspace, actor: Actor) -> HttpResponse:
    """Make somebody with a login a member."""
    form = AddMemberForm(request.POST, prefix="add")
    added = attempt(form, lambda: operations.add_member(actor, workspace, **form.cleaned_data))
    if added is None:
        return _page(request, workspace, add_form=form)
    messages.success(request, f"{added.user.username} is a member now.")
    return redirect("workspaces:members", workspace.slug)


@sensitive_post_parameters("new-password")
@console_view(Need.ADMINISTER, only_post=True)
def create(request: HttpRequest, workspace: Workspace, actor: Actor) -> HttpResponse:
    """Make a new login and a member at once."""
    form = NewPersonForm(request.POST, prefix="new")
    made = attempt(form, lambda: operations.create_member(actor, workspace, **form.cleaned_data))
    if made is None:
        return _page(request, workspace, new_form=form)
    messages.success(request, f"{made.user.username} can sign in now, with the password you gave.")
    return redirect("workspaces:members", workspace.slug)


@console_view(Need.ADMINISTER)
def one(request: HttpRequest, workspace: Workspace, actor: Actor, username: str) -> HttpResponse:
    """One member: the role, and the way out."""
    return _one(request, access_member(workspace, username))


@console_view(Need.ADMINISTER, only_post=True)
def change(request: HttpRequest, workspace: Workspace, actor: Actor, username: str) -> HttpResponse:
    """Give a member another role."""
    form = RoleForm(request.POST)
    changed = attempt(form, lambda: operations.set_role(actor, workspace, username, form.cleaned_data["role"]))
    if changed is None:
        return _one(request, access_member(workspace, username), form)
    messages.success(request, f"{changed.user.username} is {changed.role} now.")
    return redirect("workspaces:members", workspace.slug)


@console_view(Need.ADMINISTER, only_post=True)
def remove(request: HttpRequest, workspace: Workspace, actor: Actor, username: str) -> HttpResponse:
    """End a membership; the login stays."""
    member = access_member(workspace, username)
    form = RoleForm({"role": member.role})
    attempt(form, lambda: operations.remove_member(actor, workspace, username))
    if form.errors:
        return _one(request, member, form)
    messages.success(request, f"{member.user.username} is not a member any more.")
    if actor.kind == "user" and actor.row_id == member.user_id:
        return redirect("workspaces:list")
    return redirect("workspaces:members", workspace.slug)


def _page(
    request: HttpRequest,
    workspace: Workspace,
    add_form: forms.Form | None = None,
    new_form: forms.Form | None = None,
) -> HttpResponse:
    context = {
        "members": queries.members(workspace),
        "add_form": add_form or AddMemberForm(prefix="add"),
        "new_form": new_form or NewPersonForm(prefix="new"),
    }
    return render(request, "workspaces/members.html", context, status=422 if add_form or new_form else 200)


def _one(request: HttpRequest, member: Membership, refused: forms.Form | None = None) -> HttpResponse:
    context = {"member": member, "form": refused or RoleForm(initial={"role": member.role})}
    return render(request, "workspaces/member.html", context, status=422 if refused else 200)
