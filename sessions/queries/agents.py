"""Agents, their versions and model providers, as documents. A provider's key is in none of them."""

from typing import Any

from sessions.models import Agent, AgentVersion, Provider
from sessions.queries.documents import loaded
from sessions.queries.paging import Page, bounded, cursor_of, parts_of
from workspaces.errors import Invalid, NotFound
from workspaces.models import Workspace
from workspaces.values import require_clean

MAX_NUMBER = 2**31 - 1


def provider_document(provider: Provider) -> dict[str, Any]:
    """A model provider. `has_key`: whether there is a key; the key itself is never read back."""
    return {
        "id": str(provider.pk),
        "slug": provider.slug,
        "kind": provider.kind,
        "base_url": provider.base_url,
        "has_key": bool(provider.api_key),
        "created_at": provider.created_at,
    }


def provider_page(workspace: Workspace, *, cursor: str | None = None, limit: int = 100) -> Page[dict[str, Any]]:
    """The workspace's model providers by slug. Raises Invalid."""
    limit = bounded(limit)
    found = Provider.objects.filter(workspace=workspace).order_by("slug")
    if cursor:
        found = found.filter(slug__gt=_slug(cursor))
    rows = list(found[: limit + 1])
    more = len(rows) > limit
    items = [provider_document(row) for row in rows[:limit]]
    return Page(items, next_cursor=cursor_of(items[-1]["slug"]) if more else None)


def agent_document(agent: Agent, version: AgentVersion | None = None) -> dict[str, Any]:
    """An agent with the definition of *version* (None: its current one).

    `version` is the version's name, the hash of its definition; `number` counts from 1.
    """
    version = version or agent.current
    return {
        "id": str(agent.pk),
        "slug": agent.slug,
        "name": agent.name,
        "version": version.digest if version else None,
        "number": version.number if version else None,
        "created_at": agent.created_at,
        "definition": loaded(version.definition, {}) if version else {},
    }


def agent_page(workspace: Workspace, *, cursor: str | None = None, limit: int = 100) -> Page[dict[str, Any]]:
    """The workspace's agents by slug: as `agent_document`, with the model instead of the whole definition.

    One statement. Raises Invalid.
    """
    limit = bounded(limit)
    found = Agent.objects.filter(workspace=workspace).select_related("current").order_by("slug")
    if cursor:
        found = found.filter(slug__gt=_slug(cursor))
    rows = list(found[: limit + 1])
    more = len(rows) > limit
    items = [_short(agent_document(row)) for row in rows[:limit]]
    return Page(items, next_cursor=cursor_of(items[-1]["slug"]) if more else None)


def _short(document: dict[str, Any]) -> dict[str, Any]:
    definition = document.pop("definition")
    return document | {"model": definition.get("model"), "tools": definition.get("tools")}


def version_document(version: AgentVersion) -> dict[str, Any]:
    """One version of an agent, without its definition."""
    return {
        "version": version.digest,
        "number": version.number,
        "created_at": version.created_at,
        "created_by": version.created_by,
    }


def version_page(agent: Agent, *, cursor: str | None = None, limit: int = 50) -> Page[dict[str, Any]]:
    """The versions of *agent*, newest first. Raises Invalid."""
    limit = bounded(limit)
    found = AgentVersion.objects.filter(agent=agent).defer("definition").order_by("-number")
    if cursor:
        (number,) = parts_of(cursor, int)
        if not 0 <= number <= MAX_NUMBER:
            raise Invalid("cursor: this is not a cursor of this list. Start without one.")
        found = found.filter(number__lt=number)
    rows = list(found[: limit + 1])
    more = len(rows) > limit
    items = [version_document(row) for row in rows[:limit]]
    return Page(items, next_cursor=cursor_of(items[-1]["number"]) if more else None)


def agent_version(agent: Agent, named: int | str) -> AgentVersion:
    """A version of *agent* by its number, or by its name (the hash). Raises NotFound."""
    found = AgentVersion.objects.filter(agent=agent)
    if isinstance(named, str) and named.isascii() and named.isdecimal() and len(named) < 10:
        named = int(named)
    if isinstance(named, int):
        version = found.filter(number=named).first() if 0 < named <= MAX_NUMBER else None
    else:
        require_clean(named, "version")
        version = found.filter(digest=named).order_by("-number").first()
    if version is None:
        raise NotFound(f"The agent {agent.slug!r} has no version {str(named)[:80]}.")
    return version


def agent_slugs(workspace: Workspace) -> list[str]:
    """The slugs of all agents, for a filter's choices (at most 500)."""
    return list(Agent.objects.filter(workspace=workspace).order_by("slug").values_list("slug", flat=True)[:500])


def _slug(cursor: str) -> str:
    (slug,) = parts_of(cursor, str)
    require_clean(slug, "cursor")
    return str(slug)
