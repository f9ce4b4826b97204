"""Agents and their versions: every save that changes the definition makes a new immutable version."""

import json
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from sessions.definitions import AgentDefinition, parse
from sessions.llm.scripted import validate_script
from sessions.models import Agent, AgentVersion, Provider
from sessions.tools import registry
from workspaces import access, audit
from workspaces.actors import Actor
from workspaces.errors import AlreadyExists, Invalid
from workspaces.models import Workspace, validate_slug
from workspaces.roles import Need
from workspaces.values import require_clean

MAX_NAME = 200
MAX_PROMPT = 100_000
MAX_DEFINITION = 1024 * 1024


class AgentSlugTaken(AlreadyExists):
    """An agent with this slug exists already. PUT makes a new version of it."""


def create_agent(actor: Actor, workspace: Workspace, slug: str, name: str, raw: Mapping[str, Any]) -> Agent:
    """A new agent with its first version. Raises Forbidden, Invalid, AgentSlugTaken."""
    access.require(actor, workspace, Need.ADMINISTER)
    check_slug(slug)
    name = _name(name or slug)
    definition = check(workspace, raw)
    try:
        with transaction.atomic():
            agent = Agent.objects.create(workspace=workspace, slug=slug, name=name)
            _add_version(actor, agent, 1, definition)
            audit.record(actor, "agent.created", workspace, slug, version=1, digest=definition.digest())
    except IntegrityError:
        raise AgentSlugTaken() from None
    return agent


def update_agent(actor: Actor, agent: Agent, name: str | None, raw: Mapping[str, Any]) -> tuple[Agent, bool]:
    """(the agent, whether a new version was made): the same definition again makes none. Raises Forbidden, Invalid."""
    access.require(actor, agent.workspace, Need.ADMINISTER)
    definition = check(agent.workspace, raw)
    with transaction.atomic():
        # The agent's row orders savers: without its lock two would take the same number.
        agent = (
            Agent.objects.select_for_update(no_key=True, of=("self",))
            .select_related("current", "workspace")
            .get(pk=agent.pk)
        )
        if name is not None and name.strip() != agent.name:
            agent.name = _name(name)
            agent.save(update_fields=["name"])
        current = agent.current
        if current is not None and current.digest == definition.digest():
            return agent, False
        number = (current.number if current else 0) + 1
        _add_version(actor, agent, number, definition)
        audit.record(actor, "agent.changed", agent.workspace, agent.slug, version=number, digest=definition.digest())
    return agent, True


def _add_version(actor: Actor, agent: Agent, number: int, definition: AgentDefinition) -> None:
    agent.current = AgentVersion.objects.create(
        agent=agent,
        number=number,
        digest=definition.digest(),
        definition=definition.canonical(),
        created_by=str(actor)[:200],
    )
    agent.save(update_fields=["current"])


def definition_of(version: AgentVersion) -> AgentDefinition:
    """What a version means."""
    return parse(json.loads(version.definition))


def check(workspace: Workspace, raw: Mapping[str, Any]) -> AgentDefinition:
    """*raw* as a definition that can run in *workspace*: its provider, its tools and its script exist and fit.

    Raises Invalid naming the field.
    """
    definition = parse(raw)
    if len(definition.system_prompt) > MAX_PROMPT:
        raise Invalid(f"system_prompt: at most {MAX_PROMPT} characters.")
    provider = Provider.objects.filter(workspace=workspace, slug=definition.provider_slug).first()
    if provider is None:
        known = ", ".join(Provider.objects.filter(workspace=workspace).values_list("slug", flat=True)) or "none"
        raise Invalid(f"model: there is no provider {definition.provider_slug[:80]!r} here (there is: {known}).")
    if provider.kind not in settings.MODEL_PROVIDERS:
        raise Invalid(f"model: this release cannot call providers of kind {provider.kind!r}.")
    registry.check_binding(definition.tools)
    validate_script(list(definition.script))
    if len(definition.canonical()) > MAX_DEFINITION:
        raise Invalid(f"The definition is larger than {MAX_DEFINITION} bytes.")
    return definition


def _name(name: str) -> str:
    name = name.strip()
    if not name or len(name) > MAX_NAME:
        raise Invalid(f"name: 1 to {MAX_NAME} characters.")
    require_clean(name, "name")
    return name


def check_slug(slug: str) -> None:
    """Raises Invalid unless *slug* is one."""
    if not isinstance(slug, str):
        raise Invalid("slug: a text is expected.")
    try:
        validate_slug(slug)
    except ValidationError as error:
        raise Invalid(f"slug: {' '.join(error.messages)}") from None
