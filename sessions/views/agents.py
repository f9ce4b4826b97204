"""Agents: the list, the editor that makes versions, the versions there are."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from sessions.access import access_agent
from sessions.forms.agent import AgentForm, Binding, tab, unknown
from sessions.models import Agent, AgentVersion
from sessions.operations.agents import create_agent, definition_of, update_agent
from sessions.present.display import indented, one_line, visible
from sessions.queries.documents import loaded
from sessions.queries.editing import agent_rows, known_models, versions_before
from sessions.tools.registry import all_toolsets, toolbox
from sessions.views import page
from sessions.views.replies import number, role_of
from workspaces.actors import Actor
from workspaces.doors import console_view
from workspaces.errors import Conflict, Invalid
from workspaces.models import Workspace
from workspaces.roles import Need

NEW_AGENT = ("system",)


@console_view()
def listing(request: HttpRequest, workspace: Workspace, actor: Actor) -> HttpResponse:
    """The agents of a workspace."""
    rows = [
        {
            **_named(row.agent, row.version),
            "model": visible(str(row.definition.get("model", ""))),
            "tools": len(toolbox(row.definition.get("tools", ()), "workspace", row.definition["suspension"]).tools),
            "changed_at": row.version.created_at,
            "changed_by": one_line(row.version.created_by, 100),
        }
        for row in agent_rows(workspace)
    ]
    return render(request, "sessions/agents/list.html", _frame(request, workspace) | {"agents": rows})


@console_view(need=Need.ADMINISTER)
def new(request: HttpRequest, workspace: Workspace, actor: Actor) -> HttpResponse:
    """Make an agent."""
    form = AgentForm(request.POST or None, new=True)
    binding = _sent(request) if request.method == "POST" else Binding.of(NEW_AGENT, all_toolsets())
    wrong: list[str] = []
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            definition = form.definition(binding.as_list(all_toolsets()))
            agent = create_agent(actor, workspace, data["slug"], data["name"], definition)
        except (Invalid, Conflict) as error:
            wrong = [words for words in [form.refuse(error)] if words]
        else:
            messages.success(request, f"The agent {agent.name} is ready.")
            return redirect("sessions:agents", workspace.slug)
    return _editor(request, workspace, None, form, binding, wrong)


@console_view(need=Need.ADMINISTER)
def edit(request: HttpRequest, workspace: Workspace, actor: Actor, agent_slug: str) -> HttpResponse:
    """Change an agent: a changed definition is a new version, the old ones stay."""
    agent = access_agent(workspace, agent_slug)
    assert agent.current is not None
    current = definition_of(agent.current)
    form = AgentForm(request.POST or None, current=current, new=False, name=agent.name, based_on=agent.current.digest)
    binding = _sent(request) if request.method == "POST" else Binding.of(current.tools, all_toolsets())
    wrong = unknown(current.tools, all_toolsets())
    if request.method == "POST" and form.is_valid():
        try:
            _check_base(form, agent.current)
            definition = form.definition(binding.as_list(all_toolsets()))
            agent, changed = update_agent(actor, agent, form.cleaned_data["name"], definition)
        except (Invalid, Conflict) as error:
            wrong = [words for words in [form.refuse(error)] if words]
        else:
            assert agent.current is not None
            made = f"Version {agent.current.number} of {agent.name} is saved."
            messages.success(request, made if changed else "Saved. The definition is the same, so no version was made.")
            return redirect("sessions:agent_edit", workspace.slug, agent.slug)
    return _editor(request, workspace, agent, form, binding, wrong)


def _check_base(form: AgentForm, current: AgentVersion) -> None:
    """Raise Conflict if somebody saved a version after this form was opened; sent once more, it goes on top."""
    seen = form.cleaned_data["based_on"]
    if seen and seen != current.digest:
        form.data = {**dict(form.data.items()), "based_on": current.digest}
        who = one_line(current.created_by, 100) or "Somebody"
        raise Conflict(
            f"{who} saved version {current.number} while you were editing. Look at it under Versions; "
            "save once more to put yours on top of it."
        )


def _sent(request: HttpRequest) -> Binding:
    return Binding(frozenset(request.POST.getlist("toolset")), frozenset(request.POST.getlist("tool")))


def _editor(
    request: HttpRequest, workspace: Workspace, agent: Agent | None, form: AgentForm, binding: Binding, wrong: list[str]
) -> HttpResponse:
    refused = request.method == "POST"
    context = _frame(request, workspace) | {
        "agent": _named(agent, agent.current) if agent is not None and agent.current is not None else None,
        "form": form,
        "models": known_models(workspace),
        "toolsets": tab(binding, all_toolsets()),
        "tools_errors": [visible(words) for words in wrong],
    }
    return render(request, "sessions/agents/edit.html", context, status=422 if refused else 200)


@console_view()
def versions(request: HttpRequest, workspace: Workspace, actor: Actor, agent_slug: str) -> HttpResponse:
    """What an agent was and is; a version never changes."""
    agent = access_agent(workspace, agent_slug)
    rows, before = versions_before(agent, number(request.GET.get("before")))
    older = [*rows[1:], before]
    context = _frame(request, workspace) | {
        "agent": _named(agent, agent.current) if agent.current else {"slug": agent.slug, "name": agent.name},
        "versions": [_version(agent, row, older[at]) for at, row in enumerate(rows)],
        "page": {"newer": None, "older": rows[-1].number if before is not None else None},
    }
    return render(request, "sessions/agents/versions.html", context)


def _version(agent: Agent, row: AgentVersion, before: AgentVersion | None) -> dict[str, Any]:
    return {
        "number": row.number,
        "digest": row.digest,
        "short": row.digest[:6],
        "made_at": row.created_at,
        "made_by": one_line(row.created_by, 100),
        "current": row.pk == agent.current_id,
        "changed": ", ".join(_changed(loaded(before.definition, {}), loaded(row.definition, {}))) if before else "",
        "definition": visible(indented(row.definition)),
    }


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    return [name.replace("_", " ") for name in after if before.get(name) != after[name]]


def _named(agent: Agent, version: AgentVersion) -> dict[str, Any]:
    return {
        "slug": agent.slug,
        "name": one_line(agent.name, 200),
        "version_number": version.number,
        "version_short": version.digest[:6],
    }


def _frame(request: HttpRequest, workspace: Workspace) -> dict[str, Any]:
    return page.frame(workspace) | {"can": page.rights(role_of(request))}
