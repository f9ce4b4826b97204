"""Agents, their versions and model providers over HTTP."""

import pytest

from sessions.models import Agent, AgentVersion, Provider
from workspaces.models import AuditEntry

pytestmark = pytest.mark.django_db

AGENT = {"slug": "helper", "name": "Helper", "model": "local:small", "tools": ["system", "-system__inform_user"]}
SECRET = "sk-canary-4711"


@pytest.fixture(autouse=True)
def provider(admin):
    admin.post("/api/model-providers", {"slug": "local", "kind": "scripted"}).ok(201)


def test_a_providers_key_is_written_and_never_read(admin, viewer):
    made = {"slug": "vendor", "kind": "openai", "base_url": "http://127.0.0.1:9/v1/", "api_key": SECRET}
    answers = [
        admin.post("/api/model-providers", made).ok(201),
        admin.put("/api/model-providers/vendor", {"base_url": "http://10.0.0.1/v1"}).ok(),
        viewer.get("/api/model-providers").ok(),
    ]
    assert answers[0]["has_key"] is True and answers[0]["base_url"] == "http://127.0.0.1:9/v1"
    assert answers[1]["has_key"] is True and answers[1]["base_url"] == "http://10.0.0.1/v1"
    assert [p["slug"] for p in answers[2]["items"]] == ["local", "vendor"]
    rows = [*Provider.objects.values(), *AuditEntry.objects.values()]
    assert SECRET not in str(answers) + str(rows)
    assert admin.put("/api/model-providers/vendor", {"api_key": ""}).ok()["has_key"] is False


def test_no_error_about_a_provider_repeats_its_key(admin):
    for body in (
        {"slug": "vendor", "kind": "nonsense", "api_key": SECRET},
        {"slug": "vendor", "kind": "openai", "api_key": [SECRET]},
        {"slug": "vendor", "kind": "openai", "api_key": SECRET + "x" * 5000},
        {"slug": "vendor", "kind": "openai", "api_key": SECRET, "base_url": f"http://{SECRET}@host/"},
        {"slug": "vendor", "kind": "openai", "api_key": SECRET + "\x00"},
        {"slug": "vendor", "kind": "openai", "key": SECRET},
        {"slug": "local", "kind": "openai", "api_key": SECRET},
    ):
        answer = admin.post("/api/model-providers", body)
        assert answer.status in (409, 422) and SECRET not in str(answer.body)
    assert Provider.objects.count() == 1


def test_a_providers_slug_and_kind_stay(admin):
    admin.post("/api/model-providers", {"slug": "local", "kind": "openai"}).problem(409, "already_exists")
    admin.put("/api/model-providers/local", {"kind": "openai"}).problem(422, "invalid")
    admin.put("/api/model-providers/local", {"slug": "other"}).problem(422, "invalid")
    admin.put("/api/model-providers/nowhere", {}).problem(404, "not_found")
    admin.put("/api/model-providers/local", {"slug": "local", "kind": "scripted"}).ok()


def test_each_changed_definition_is_a_new_version(admin, viewer):
    one = admin.post("/api/agents", AGENT).ok(201)
    admin.post("/api/agents", AGENT).problem(409, "already_exists")
    same = admin.put("/api/agents/helper", {**AGENT, "name": "Other name"}).ok()
    assert (same["number"], same["version"], same["changed"]) == (1, one["version"], False)
    two = admin.put("/api/agents/helper", {"model": "local:large", "by": "Ada"}).ok()
    assert (two["number"], two["changed"]) == (2, True) and two["version"] != one["version"]
    versions = viewer.get("/api/agents/helper/versions").ok()["items"]
    assert [(v["number"], v["version"]) for v in versions] == [(2, two["version"]), (1, one["version"])]
    assert "Ada" in versions[0]["created_by"]
    page = viewer.get("/api/agents/helper/versions?limit=1").ok()
    rest = viewer.get(f"/api/agents/helper/versions?limit=1&cursor={page['next_cursor']}").ok()
    assert (page["items"], rest["items"], rest["next_cursor"]) == (versions[:1], versions[1:], None)


def test_an_agent_is_shown_with_its_whole_definition(admin, viewer):
    one = admin.post("/api/agents", {**AGENT, "limits": {"model_calls": None}, "suspension": {"on_expiry": "abandon"}})
    admin.put("/api/agents/helper", {"model": "local:large"}).ok()
    newest = viewer.get("/api/agents/helper").ok()
    assert (newest["name"], newest["number"], newest["definition"]["model"]) == ("Helper", 2, "local:large")
    assert newest["definition"]["limits"]["model_calls"] == 48
    for named in ("1", one.ok(201)["version"]):
        old = viewer.get(f"/api/agents/helper?version={named}").ok()
        assert old["number"] == 1 and old["definition"]["suspension"]["on_expiry"] == "abandon"
        assert old["definition"]["limits"]["model_calls"] is None
    for wrong in ("3", "0", "-1", "nonsense", "9" * 40):
        viewer.get(f"/api/agents/helper?version={wrong}").problem(404, "not_found")


def test_a_whole_number_is_the_same_definition_here_and_in_the_console(admin, acme, ada_actor):
    from sessions.operations.agents import update_agent

    raw = {"model": "local:m", "suspension": {"question_expires_seconds": 60}, "limits": {"running_seconds": 5}}
    made = admin.post("/api/agents", {"slug": "helper", **raw}).ok(201)
    agent, changed = update_agent(ada_actor, Agent.objects.get(), None, raw)
    assert not changed and agent.current.digest == made["version"]


def test_a_session_may_be_started_on_an_older_version(admin, operator):
    one = admin.post("/api/agents", AGENT).ok(201)
    admin.put("/api/agents/helper", {"model": "local:large"}).ok()
    body = {"agent": "helper", "input": "Go."}
    assert operator.post("/api/sessions", body).ok(201)["version"] == 2
    for named in (1, "1", one["version"]):
        found = operator.post("/api/sessions", {**body, "version": named}).ok(201)
        assert (found["version"], found["version_digest"]) == (1, one["version"])
    for wrong in (3, 0, -1, "x", 10**30):
        operator.post("/api/sessions", {**body, "version": wrong}).problem(404, "not_found")
    for wrong in (True, 1.5, [1], {"number": 1}):
        operator.post("/api/sessions", {**body, "version": wrong}).problem(422, "invalid")


def test_lists_go_on_by_their_cursor(admin, viewer):
    for n in range(5):
        admin.post("/api/agents", {**AGENT, "slug": f"agent-{n}"}).ok(201)
    found, cursor = [], ""
    while cursor is not None:
        page = viewer.get(f"/api/agents?limit=2&cursor={cursor}").ok()
        found, cursor = found + [a["slug"] for a in page["items"]], page["next_cursor"]
    assert found == [f"agent-{n}" for n in range(5)]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("slug", "Not A Slug"),
        ("slug", "../x"),
        ("slug", None),
        ("slug", 7),
        ("name", "x" * 201),
        ("name", ["x"]),
        ("model", "nowhere:m"),
        ("model", "no-colon"),
        ("model", None),
        ("system_prompt", {"x": 1}),
        ("system_prompt", "x" * 100_001),
        ("tools", ["nothing__here"]),
        ("tools", ["-nothing"]),
        ("tools", "system"),
        ("tools", [7]),
        ("script", [{"shout": "x"}]),
        ("script", [{"calls": [{"tool": 7}]}]),
        ("script", [{"say": "{{ open }}"}]),
        ("script", {"say": "x"}),
        ("script", ["say"]),
        ("suspension", {"may_ask_questions": "yes"}),
        ("suspension", {"nonsense": 1}),
        ("suspension", {"on_expiry": "explode"}),
        ("suspension", {"on_expiry": {"question": "explode"}}),
        ("suspension", {"on_expiry": ["abandon"]}),
        ("suspension", {"question_expires_seconds": 0}),
        ("suspension", {"question_expires_seconds": -1}),
        ("suspension", {"question_expires_seconds": "60"}),
        ("suspension", {"question_expires_seconds": 1e300}),
        ("limits", {"model_calls": -1}),
        ("limits", {"model_calls": 1.5}),
        ("limits", {"model_calls": True}),
        ("limits", {"nonsense": 1}),
        ("limits", []),
        ("colour", "red"),
        ("by", "x" * 257),
    ],
)
def test_a_definition_that_cannot_run_is_refused_naming_the_field(admin, field, value):
    answer = admin.post("/api/agents", {**AGENT, field: value}).problem(422, "invalid")
    assert field in answer["detail"].lower(), answer
    assert not Agent.objects.exists() and not AgentVersion.objects.exists()


def test_a_slug_that_is_not_text_of_a_slug_is_simply_missing(admin):
    for slug in ("%00", "a%00b", "x" * 5000, "%ed%a0%80", "nowhere", "..%2f"):
        assert admin.get(f"/api/agents/{slug}").status == 404
        assert admin.put(f"/api/agents/{slug}", {"model": "local:m"}).status == 404
        assert admin.get(f"/api/agents/{slug}/versions").status == 404
        assert admin.put(f"/api/model-providers/{slug}", {}).status == 404
