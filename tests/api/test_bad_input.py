"""What cannot be meant is refused with a clear error; nothing is changed and nothing leaks."""

import json

import pytest

from sessions.models import JournalEntry, Session, Steer, Yield
from tests.api.conftest import Caller

pytestmark = pytest.mark.django_db

DEEP = b"[" * 100_000 + b"]" * 100_000
BROKEN = [
    b"{",
    b"not json",
    b'{"by": NaN}',
    b'{"by": 1e400}',
    b'{"by": Infinity}',
    b'{"by": "a", "by": "b"}',
    b'{"by": "a\\u0000b"}',
    b'{"by": "\\ud83d"}',
    b'{"\\ud83d": 1}',
    b'{"by": "\xff"}',
    b'{"by": ' + b"9" * 4001 + b"}",
    DEEP,
    b'{"by": ' + DEEP[:201] + DEEP[-201:] + b"}",
    b"[]",
    b'"text"',
    b"7",
    b"null",
    b'{"nonsense": 1}',
    b'{"by": 7}',
    b'{"by": ["x"]}',
    json.dumps({"by": "x" * 257}).encode(),
]


@pytest.fixture
def parked(make_agent, acme, db):
    """A parked session, in the test's own transaction."""
    from sessions.engine import runner
    from sessions.engine.process import Process
    from sessions.operations.sessions import start_session
    from tests.api.conftest import SCRIPT
    from workspaces.actors import SYSTEM

    session, _ = start_session(SYSTEM, acme, make_agent(SCRIPT), "Go.")
    process = Process(1)
    process.beat()
    runner.work(process)
    assert Session.objects.get().state == "parked"
    return session


def rows():
    tables = (Session, Yield, Steer, JournalEntry)
    return [sorted(map(str, table.objects.values_list())) for table in tables]


@pytest.mark.parametrize("raw", BROKEN, ids=lambda raw: repr(raw[:24]))
def test_a_body_that_is_no_good_json_object_changes_nothing(parked, admin, raw):
    before = rows()
    wait = Yield.objects.get()
    path = f"/api/sessions/{parked.pk}"
    posts = ["cancel", "pause", "resume", "retry", "steer", "messages", "ask_user/respond"]
    posts += [f"yields/{wait.pk}/cancel", f"yields/{wait.pk}/settle"]
    for name in posts:
        answer = admin.post(f"{path}/{name}", raw).problem(422, "invalid")
        assert "Traceback" not in str(answer) and len(str(answer)) < 3000
    for name in ("sessions", "agents", "model-providers"):
        admin.post(f"/api/{name}", raw).problem(422, "invalid")
    admin.put("/api/agents/agent-0", raw).problem(422, "invalid")
    admin.put("/api/model-providers/scripted", raw).problem(422, "invalid")
    assert rows() == before


def test_a_body_that_is_too_long_is_413(parked, admin):
    raw = json.dumps({"text": "x" * (1024 * 1024)}).encode()
    admin.post(f"/api/sessions/{parked.pk}/steer", raw).problem(413, "too_large")
    assert not Steer.objects.exists()


def test_a_long_body_without_a_declared_length_is_413_too(rf, settings):
    from io import BytesIO

    from workspaces.bodies import read_json
    from workspaces.errors import TooLarge

    request = rf.post("/", b"", content_type="application/json")
    stream = BytesIO(b" " * (settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1000))
    request._stream = stream
    with pytest.raises(TooLarge):
        read_json(request)
    assert stream.tell() == settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1


def test_a_body_is_read_the_same_under_asgi(async_rf):
    from workspaces.bodies import read_json

    request = async_rf.post("/", b'{"text": "gr\xc3\xbc\xc3\x9fe"}', content_type="application/json")
    assert read_json(request) == {"text": "grüße"}


NO_IDS = ["abc", "0", "-1", "%00", "1.5", "a" * 5000, "%F0%9F%98%80", "00000000-0000-0000-0000-000000000000", "%5B%5D"]


@pytest.mark.parametrize("id_", NO_IDS, ids=lambda text: text[:20])
def test_an_id_that_is_none_is_a_missing_one(parked, admin, id_):
    for name in ("", "/messages", "/journal", "/yields", "/status", "/ask_user/pending"):
        admin.get(f"/api/sessions/{id_}{name}").problem(404, "not_found")
    for name in ("cancel", "pause", "resume", "retry"):
        admin.post(f"/api/sessions/{id_}/{name}").problem(404, "not_found")
    for name in ("steer", "messages"):
        admin.post(f"/api/sessions/{id_}/{name}", {"text": "x"}).problem(404, "not_found")
    admin.post(f"/api/sessions/{id_}/ask_user/respond", {"response": "x"}).problem(404, "not_found")
    path = f"/api/sessions/{parked.pk}"
    admin.post(f"{path}/yields/{id_}/cancel").problem(404, "not_found")
    admin.post(f"{path}/yields/{id_}/settle", {"outcome": "failed"}).problem(404, "not_found")
    if "%" not in id_:
        for name in ("yield", "tool_call_id"):
            admin.post(f"{path}/ask_user/respond", {name: id_, "response": "x"}).problem(404, "not_found")


@pytest.mark.parametrize(
    ("more", "status", "code", "word"),
    [
        ({"agent": "nobody"}, 404, "not_found", "nobody"),
        ({"agent": None}, 422, "invalid", "agent"),
        ({"agent": ""}, 404, "not_found", "agent"),
        ({"graph": "g", "agent": None}, 422, "invalid", "graph"),
        ({"graph": {"nodes": []}}, 422, "invalid", "graph"),
        ({"breakpoints": ["a"]}, 422, "invalid", "breakpoints"),
        ({"step_mode": True}, 422, "invalid", "step_mode"),
        ({"surface": "chat"}, 422, "invalid", "surface"),
        ({"surface": "x" * 1000}, 422, "invalid", "surface"),
        ({"input": ""}, 422, "invalid", "input"),
        ({"input": "   "}, 422, "invalid", "input"),
        ({"input": {"x": 1}}, 422, "invalid", "input"),
        ({"input": "x" * 200_001}, 422, "invalid", "input"),
        ({"title": "x" * 201}, 422, "invalid", "title"),
        ({"title": 7}, 422, "invalid", "title"),
        ({"metadata": []}, 422, "invalid", "metadata"),
        ({"metadata": {"x": "y" * 17_000}}, 422, "invalid", "metadata"),
        ({"idempotency_key": ""}, 422, "invalid", "idempotency_key"),
        ({"idempotency_key": "x" * 256}, 422, "invalid", "idempotency_key"),
        ({"idempotency_key": 7}, 422, "invalid", "idempotency_key"),
        ({"version": 99}, 404, "not_found", "99"),
        ({"inptu": "typo"}, 422, "invalid", "inptu"),
    ],
)
def test_a_start_that_cannot_be_meant_is_refused(make_agent, operator, more, status, code, word):
    body = {"agent": make_agent([]), "input": "Go."} | more
    assert word in operator.post("/api/sessions", body).problem(status, code)["detail"]
    assert not Session.objects.exists()


def test_options_of_later_releases_may_be_given_as_off(make_agent, operator):
    off = {"graph": None, "breakpoints": [], "step_mode": False, "surface": "workspace", "title": None}
    operator.post("/api/sessions", {"agent": make_agent([]), "input": "Go."} | off).ok(201)


@pytest.mark.parametrize(
    "query",
    [
        "state=nonsense",
        "state=parked&state=%00",
        "waiting_kind=nonsense",
        "waiting_kind=%00",
        "agent=%00",
        "q=%00",
        "q=" + "x" * 201,
        "limit=0",
        "limit=201",
        "limit=x",
        "limit=99999999999999999999",
        "needs_person=maybe",
        "cursor=x",
        "cursor=%00",
        "cursor=%F0%9F%98%80",
        "cursor=W10",
        "cursor=WyIrIiwieCJd",
        "cursor=WyIiLCIwMDAwMDAwMC0wMDAwLTAwMDAtMDAwMC0wMDAwMDAwMDAwMDAiXQ",
        "cursor=" + "W" * 600,
    ],
    ids=lambda text: text[:30],
)
def test_a_query_that_cannot_be_meant_is_refused(viewer, query):
    viewer.get(f"/api/sessions?{query}").problem(422, "invalid")


@pytest.mark.parametrize(
    "path",
    [
        "/api/inbox?kind=nonsense",
        "/api/inbox?cursor=x",
        "/api/inbox?cursor=WyJ4IiwieCJd",
        "/api/inbox?limit=0",
        "/api/agents?cursor=WzFd",
        "/api/agents?limit=1000",
        "/api/model-providers?cursor=W251bGxd",
    ],
)
def test_so_are_those_of_the_other_lists(viewer, path):
    viewer.get(path).problem(422, "invalid")


@pytest.mark.parametrize("name", ["messages", "journal"])
@pytest.mark.parametrize(
    "query", ["after=-1", "after=x", "after=9" + "9" * 30, "cursor=WyJ4Il0", "limit=0", "limit=1e9"]
)
def test_so_are_those_of_a_session(parked, viewer, name, query):
    viewer.get(f"/api/sessions/{parked.pk}/{name}?{query}").problem(422, "invalid")


def test_empty_query_values_count_as_not_given(parked, viewer):
    found = viewer.get("/api/sessions?state=&agent=&waiting_kind=&q=&cursor=").ok()["items"]
    assert [session["id"] for session in found] == [str(parked.pk)]


def test_what_belongs_to_later_releases_is_not_there(parked, admin):
    path = f"/api/sessions/{parked.pk}"
    for name in ("fork", "move", "replay", "yields/x/wake", "yields/x/deliver", "tool_approval/respond"):
        assert admin.post(f"{path}/{name}", {}).status == 404
    for name in ("/api/graphs", "/api/events", "/api/policies", "/api/triggers"):
        assert admin.post(name, {}).status == 404


@pytest.mark.parametrize("header", ["", "Bearer ", "Bearer x", "Basic eDp5", "layby_x", "Bearer layby_\xff"])
def test_who_has_no_token_learns_nothing(parked, header):
    caller = Caller()
    caller.client.defaults["HTTP_AUTHORIZATION"] = header
    real, missing = caller.get(f"/api/sessions/{parked.pk}"), caller.get("/api/sessions/nonsense")
    assert real.problem(401, "unauthenticated") == missing.problem(401, "unauthenticated")


def test_a_browsers_cookie_is_nothing_here(parked, ada, browser_of):
    assert browser_of(ada).get(f"/api/sessions/{parked.pk}").status_code == 401
