"""The admin site edits agents and providers through the operations, shows sessions, and shows nobody else's rows."""

import json

import pytest
from django.urls import reverse

from sessions.models import Agent, AgentVersion, Provider, Session
from sessions.operations.agents import definition_of
from sessions.operations.providers import create_provider, seed
from tests.console.conftest import text_of
from workspaces import secrets
from workspaces.actors import SYSTEM
from workspaces.models import AuditEntry

pytestmark = pytest.mark.django_db(transaction=True)

MODELS = [Agent, AgentVersion, Provider, Session]


def address(model, name: str, *args) -> str:
    return reverse(f"admin:agent_sessions_{model._meta.model_name}_{name}", args=args)


@pytest.fixture
def staff(ada, browser_of):
    ada.is_staff = True
    ada.save()
    return browser_of(ada)


@pytest.mark.parametrize("model", MODELS)
def test_staff_see_their_own_rows_and_superusers_all(model, waiting, staff, sue, mallory, browser_of):
    session = waiting()
    mallory.is_staff = True
    mallory.save()
    rows = {Agent: session.version.agent, AgentVersion: session.version, Session: session}
    row = rows.get(model) or Provider.objects.get(workspace=session.workspace)
    for client, sees in ((staff, True), (browser_of(sue), True), (browser_of(mallory), False)):
        response = client.get(address(model, "changelist"))
        assert response.status_code == 200 and (str(row.pk) in text_of(response)) is sees
        assert client.get(address(model, "change", row.pk)).status_code == (200 if sees else 302)


def test_a_session_and_a_version_are_looked_at_only(waiting, staff, sue, browser_of):
    session = waiting()
    client = browser_of(sue)
    for model, row in ((Session, session), (AgentVersion, session.version)):
        assert "_save" not in text_of(client.get(address(model, "change", row.pk)))
        assert client.post(address(model, "change", row.pk), {"state": "completed"}).status_code == 403
        assert client.post(address(model, "delete", row.pk), {"post": "yes"}).status_code == 403
        assert client.get(address(model, "add")).status_code == 403
    session.refresh_from_db()
    assert session.state == "parked"


def test_saving_an_agent_makes_a_version_and_a_mistake_is_said_at_its_field(acme, staff):
    seed(SYSTEM, acme)
    data = {"workspace": str(acme.pk), "slug": "mine", "name": "Mine", "definition": '{"model": "nowhere:x"}'}
    response = staff.post(address(Agent, "add"), data)
    assert response.status_code == 200 and "there is no provider" in text_of(response) and not Agent.objects.exists()
    for wrong in ("[]", "{", '{"model": "scripted:x", "tools": ["nothing"]}'):
        assert staff.post(address(Agent, "add"), data | {"definition": wrong}).status_code == 200
    assert "A slug is" in text_of(staff.post(address(Agent, "add"), data | {"slug": "No"}))
    good = data | {"definition": json.dumps({"model": "scripted:x", "tools": ["system"]})}
    assert staff.post(address(Agent, "add"), good).status_code == 302
    agent = Agent.objects.get(slug="mine")
    assert agent.current.created_by == "ada" and agent.current.number == 1
    assert "already exists" in text_of(staff.post(address(Agent, "add"), good))
    response = staff.get(address(Agent, "change", agent.pk))
    assert "scripted:x" in text_of(response)
    changed = {"name": "Ours", "definition": '{"model": "scripted:y"}'}
    assert staff.post(address(Agent, "change", agent.pk), changed).status_code == 302
    agent.refresh_from_db()
    assert agent.name == "Ours" and agent.current.number == 2 and definition_of(agent.current).model == "scripted:y"
    assert AuditEntry.objects.filter(action="agent.changed", actor_name="ada").count() == 1


def test_staff_make_nothing_in_a_foreign_workspace(acme, other, staff):
    seed(SYSTEM, other)
    data = {"workspace": str(other.pk), "slug": "mine", "name": "Mine", "definition": '{"model": "scripted:x"}'}
    assert staff.post(address(Agent, "add"), data).status_code == 200
    key = {"workspace": str(other.pk), "slug": "mine", "kind": "openai", "base_url": "", "key": "x"}
    assert staff.post(address(Provider, "add"), key).status_code == 200
    assert not Agent.objects.exists() and Provider.objects.count() == 1


def test_a_providers_key_goes_in_and_never_comes_out(acme, staff):
    data = {"workspace": str(acme.pk), "slug": "mine", "kind": "openai", "base_url": "http://127.0.0.1:9/v1/"}
    assert staff.post(address(Provider, "add"), data | {"key": "sk-canary"}).status_code == 302
    provider = Provider.objects.get(slug="mine")
    assert secrets.decrypt(provider.api_key) == "sk-canary" and provider.base_url == "http://127.0.0.1:9/v1"
    path = address(Provider, "change", provider.pk)
    for page in (staff.get(path), staff.get(address(Provider, "changelist"))):
        assert "sk-canary" not in text_of(page) and provider.api_key not in text_of(page)
    assert staff.post(path, {"base_url": "ftp://x", "key": "sk-2"}).status_code == 200
    assert staff.post(path, {"base_url": "", "key": ""}).status_code == 302
    provider.refresh_from_db()
    assert provider.base_url == "" and secrets.decrypt(provider.api_key) == "sk-canary"
    assert staff.post(path, {"base_url": "", "remove_key": "on"}).status_code == 302
    provider.refresh_from_db()
    assert provider.api_key == ""
    assert not AuditEntry.objects.filter(data__icontains="canary").exists()
    create_provider(SYSTEM, acme, "other", "openai")
    assert "already exists" in text_of(staff.post(address(Provider, "add"), data | {"slug": "other"}))
