"""What the editors of agents and providers read beside the documents."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sessions.models import Agent, AgentVersion, Provider
from sessions.queries.documents import loaded
from workspaces.models import Workspace

MAX_AGENTS = 500
VERSIONS = 20


@dataclass(frozen=True)
class AgentRow:
    """An agent with its current version and what that means."""

    agent: Agent
    version: AgentVersion
    definition: Mapping[str, Any]


def agent_rows(workspace: Workspace) -> list[AgentRow]:
    """The agents of *workspace* by slug, at most 500. One statement."""
    found = Agent.objects.filter(workspace=workspace, current__isnull=False).select_related("current")[:MAX_AGENTS]
    return [AgentRow(one, one.current, loaded(one.current.definition, {})) for one in found if one.current]


def provider_rows(workspace: Workspace) -> list[tuple[Provider, int]]:
    """(provider, how many agents' current versions use it) by slug. Two statements."""
    users: dict[str, int] = {}
    for row in agent_rows(workspace):
        slug = str(row.definition.get("model", "")).partition(":")[0]
        users[slug] = users.get(slug, 0) + 1
    return [(one, users.get(one.slug, 0)) for one in Provider.objects.filter(workspace=workspace)[:MAX_AGENTS]]


def known_models(workspace: Workspace) -> list[str]:
    """Suggestions for a model's name: those in use, and the providers there are. Two statements."""
    used = {str(row.definition.get("model", "")) for row in agent_rows(workspace)}
    slugs = Provider.objects.filter(workspace=workspace).values_list("slug", "kind")[:MAX_AGENTS]
    named = {f"{slug}:demo" if kind == "scripted" else f"{slug}:" for slug, kind in slugs}
    return sorted(used | {one for one in named if not any(model.startswith(one) for model in used)})


def versions_before(agent: Agent, number: int | None) -> tuple[list[AgentVersion], AgentVersion | None]:
    """(the newest 20 versions below *number*, newest first; the one before them, to compare with). One statement."""
    found = AgentVersion.objects.filter(agent=agent).order_by("-number")
    if number is not None:
        found = found.filter(number__lt=number)
    rows = list(found[: VERSIONS + 1])
    return rows[:VERSIONS], rows[VERSIONS] if len(rows) > VERSIONS else None
