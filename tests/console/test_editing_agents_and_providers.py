"""Agents and providers are edited in the console: versions never change, keys never come out, nothing is lost."""

import json

import pytest

from sessions.models import Agent, AgentVersion, Provider
from sessions.operations.agents import definition_of, update_agent
from sessions.operations.providers import seed
from tests.console.conftest import Elements, get, text_of
from workspaces import secrets
from workspaces.actors import SYSTEM

pytestmark = pytest.mark.django_db(transaction=True)

NEW = {
    "slug": "writer",
    "name": "Report writer",
    "model": "scripted:demo",
    "system_prompt": "Write.\r\nWell.",
    "on_expiry": "continue",
    "toolset": ["system"],
    "tool": ["system__ask_user", "system__inform_user", "workspace__read_file"],
    "question_expires_seconds": "never",
    "model_calls": "48",
    "script": '[{"calls": [{"tool": "system__ask_user", "arguments": {"prompt": "y", "timeout_seconds": 1.50}}]}]',
}


@pytest.fixture
def admin(acme, ada, browser_of):
    seed(SYSTEM, acme)
    return browser_of(ada)


def filled(html: str, **changes) -> dict:
    """What a browser would send of the form in *html*."""
    sent: dict = {}
    for tag, attrs in Elements(html).found:
        name, kind = attrs.get("name"), attrs.get("type")
        if tag != "input" or not name or name in ("csrfmiddlewaretoken", "q"):
            continue
        if kind in ("checkbox", "radio"):
            if "checked" in attrs:
                sent.setdefault(name, []).append(attrs.get("value") or "on")
        else:
            sent[name] = attrs.get("value") or ""
    return sent | changes


def test_a_new_agent_has_the_system_tools_checked(admin):
    html = get(admin, "/w/acme/new-agent/")
    sent = filled(html)
    assert sent["toolset"] == ["system"] and "system__ask_user" in sent["tool"]
    assert not [name for name in sent["tool"] if name.startswith("workspace__")]
    assert sent["model_calls"] == "48" and sent["question_expires_seconds"] == "86400"


def test_what_was_entered_is_the_first_version(admin, acme):
    assert admin.post("/w/acme/new-agent/", NEW).status_code == 302
    agent = Agent.objects.get(workspace=acme, slug="writer")
    definition = definition_of(agent.current)
    assert definition.tools == ("system", "-system__ask_question", "-system__get_datetime", "workspace__read_file")
    assert definition.system_prompt == "Write.\nWell." and definition.limits.running_seconds is None
    assert definition.suspension.question_expires_seconds is None
    assert definition.suspension.approval_expires_seconds == 86_400 and agent.current.created_by == "ada"
    assert definition.script[0]["calls"][0]["arguments"]["timeout_seconds"] == 1.5


def test_opening_and_saving_without_a_change_makes_no_version(admin, acme):
    admin.post("/w/acme/new-agent/", NEW)
    html = get(admin, "/w/acme/agents/writer/")
    script = json.dumps(definition_of(Agent.objects.get(slug="writer").current).as_json()["script"])
    sent = filled(html, system_prompt="Write.\r\nWell.", script=script, on_expiry="continue")
    response = admin.post("/w/acme/agents/writer/", sent, follow=True)
    assert "no version was made" in text_of(response), text_of(response)
    assert AgentVersion.objects.filter(agent__slug="writer").count() == 1
    admin.post("/w/acme/agents/writer/", sent | {"model_calls": "50"})
    assert AgentVersion.objects.filter(agent__slug="writer").count() == 2
    html = get(admin, "/w/acme/agents/writer/versions/")
    assert "changed: limits" in html and "v2" in html and html.count("current</span>") == 1


def test_an_expiry_by_kind_survives_the_form(admin, acme, make_agent):
    slug = make_agent([], suspension={"on_expiry": {"question": "abandon"}})
    html = get(admin, f"/w/acme/agents/{slug}/")
    assert "By kind (question: abandon)" in html
    sent = filled(html, on_expiry="as_it_is", system_prompt="new", script="")
    assert admin.post(f"/w/acme/agents/{slug}/", sent).status_code == 302
    assert definition_of(Agent.objects.get(slug=slug).current).suspension.on_expiry == {"question": "abandon"}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"model": "nowhere:x"}, "There is no provider"),
        ({"model": "x"}, "provider-slug:model-name"),
        ({"slug": "Not a slug"}, "A slug is 2 to 64"),
        ({"name": " "}, "This field is required."),
        ({"script": "[{]"}, "This is not valid JSON"),
        ({"script": '{"say": 1}'}, "list of entries"),
        ({"script": '[{"say": 1}]'}, "Entry 1 of the script"),
        ({"model_calls": "many"}, "A number is expected."),
        ({"model_calls": "-1"}, "A whole number from 0 on"),
        ({"question_expires_seconds": "0"}, "Seconds above 0"),
        ({"tool": ["workspace__fly"]}, None),
    ],
)
def test_a_mistake_stands_at_its_field_and_nothing_is_lost(admin, acme, wrong, words):
    response = admin.post("/w/acme/new-agent/", NEW | wrong)
    if words is None:  # a box that is not on the page stands for nothing
        assert response.status_code == 302
        return
    html = text_of(response)
    assert response.status_code == 422 and words in html and not Agent.objects.exists()
    sent = filled(html)
    assert (sent["tool"] == NEW["tool"] and "Report writer" in html) or wrong.get("name")


def test_a_slug_that_is_taken_is_said_at_the_slug(admin, acme):
    admin.post("/w/acme/new-agent/", NEW)
    response = admin.post("/w/acme/new-agent/", NEW)
    assert response.status_code == 422 and "An agent with this slug exists already." in text_of(response)


def test_two_editors_are_told_of_each_other(admin, acme, ada_actor):
    admin.post("/w/acme/new-agent/", NEW)
    html = get(admin, "/w/acme/agents/writer/")
    agent = Agent.objects.select_related("workspace").get(slug="writer")
    update_agent(ada_actor, agent, None, {"model": "scripted:other"})
    sent = filled(html, system_prompt="mine", script="", on_expiry="continue")
    response = admin.post("/w/acme/agents/writer/", sent)
    html = text_of(response)
    assert response.status_code == 422 and "ada saved version 2 while you were editing" in html and "mine" in html
    again = filled(html, system_prompt="mine", script="", on_expiry="continue")
    assert admin.post("/w/acme/agents/writer/", again).status_code == 302
    assert Agent.objects.get(slug="writer").current.number == 3


def test_a_key_goes_in_and_never_comes_out(admin, acme):
    data = {"slug": "mine", "kind": "openai", "base_url": "http://127.0.0.1:9/v1", "api_key": "sk-canary-1"}
    assert admin.post("/w/acme/new-provider/", data).status_code == 302
    provider = Provider.objects.get(slug="mine")
    assert secrets.decrypt(provider.api_key) == "sk-canary-1"
    for path in ("/w/acme/providers/", "/w/acme/providers/mine/"):
        html = get(admin, path)
        assert "sk-canary-1" not in html and provider.api_key not in html
    response = admin.post("/w/acme/providers/mine/", {"base_url": "nonsense", "api_key": "sk-canary-2"})
    assert response.status_code == 422 and "must begin with http" in text_of(response)
    assert "sk-canary-2" not in text_of(response)
    admin.post("/w/acme/providers/mine/", {"base_url": "http://127.0.0.1:9/v2", "api_key": ""})
    provider.refresh_from_db()
    assert provider.base_url.endswith("/v2") and secrets.decrypt(provider.api_key) == "sk-canary-1"
    admin.post("/w/acme/providers/mine/", {"base_url": "", "clear_key": "on", "kind": "anthropic"})
    provider.refresh_from_db()
    assert provider.api_key == "" and provider.kind == "openai"


def test_lists_say_what_there_is(admin, acme, alice, browser_of):
    admin.post("/w/acme/new-agent/", NEW)
    html = get(admin, "/w/acme/agents/")
    assert "Report writer" in html and "3 tools" in html and "by ada" in html
    assert "1 agent<" in get(admin, "/w/acme/providers/")
    hers = get(browser_of(alice), "/w/acme/agents/")
    assert "/agents/writer/versions/" in hers and "/new-agent/" not in hers


def test_a_session_is_started_from_the_form_once(admin, acme, alice, browser_of):
    client = browser_of(alice)
    assert "There is no agent yet" in get(client, "/w/acme/sessions/start/")
    admin.post("/w/acme/new-agent/", NEW)
    html = get(client, "/w/acme/sessions/start/?agent=writer")
    key = filled(html)["key"]
    data = {"agent": "writer", "input": "Do it.\r\nNow.", "title": "", "key": key}
    first, second = (client.post("/w/acme/sessions/start/", data) for _ in range(2))
    assert first.status_code == 302 and first["Location"] == second["Location"]
    other = client.post("/w/acme/sessions/start/", data | {"input": "Do that."})
    assert other["Location"] != first["Location"]
    assert client.post("/w/acme/sessions/start/", data | {"agent": "nobody"}).status_code == 422
    assert client.post("/w/acme/sessions/start/", data | {"input": "  "}).status_code == 422
