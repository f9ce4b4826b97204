"""Every route × every kind of caller. The list is compared with the router: a new route must be put on it."""

from dataclasses import dataclass
from typing import Any

import pytest

from config.api import api
from sessions.models import Agent, JournalEntry, Provider, Session, Yield
from sessions.operations.sessions import pause_session, start_session
from sessions.queries.documents import text_of
from tests.api.conftest import SCRIPT, Caller
from workspaces import operations, tokens
from workspaces.actors import SYSTEM
from workspaces.models import ApiToken
from workspaces.roles import Need, Role, allows

pytestmark = pytest.mark.django_db


@dataclass(frozen=True)
class Route:
    """One route: what it needs, a good body, its status. `state`: what its session must be in.

    `home`: it names nothing of the workspace, so that a stranger's call is about their own.
    """

    method: str
    path: str
    need: Need
    status: int
    body: Any = None
    home: bool = False
    state: str = "parked"

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


READ, OPERATE, ADMIN = Need.READ, Need.OPERATE, Need.ADMINISTER
SESSION = "/sessions/{session}"
WAIT = SESSION + "/yields/{wait}"
PROVIDER = {"slug": "fresh", "kind": "scripted"}
AGENT = {"slug": "fresh", "model": "scripted:x"}

ROUTES = [
    Route("POST", "/model-providers", ADMIN, 201, PROVIDER, home=True),
    Route("GET", "/model-providers", READ, 200, home=True),
    Route("PUT", "/model-providers/{slug}", ADMIN, 200, {}),
    Route("POST", "/agents", ADMIN, 201, AGENT, home=True),
    Route("GET", "/agents", READ, 200, home=True),
    Route("GET", "/agents/{slug}", READ, 200),
    Route("PUT", "/agents/{slug}", ADMIN, 200, {"model": "scripted:x"}),
    Route("GET", "/agents/{slug}/versions", READ, 200),
    Route("POST", "/sessions", OPERATE, 201, {"agent": "{slug}", "input": "Go."}),
    Route("GET", "/sessions", READ, 200, home=True),
    Route("GET", SESSION, READ, 200),
    Route("GET", SESSION + "/status", READ, 200),
    Route("GET", SESSION + "/messages", READ, 200),
    Route("POST", SESSION + "/messages", OPERATE, 202, {"text": "Hello."}),
    Route("GET", SESSION + "/journal", READ, 200),
    Route("POST", SESSION + "/cancel", OPERATE, 202),
    Route("POST", SESSION + "/pause", OPERATE, 202),
    Route("POST", SESSION + "/resume", OPERATE, 202, state="paused"),
    Route("POST", SESSION + "/retry", OPERATE, 202, state="attention"),
    Route("POST", SESSION + "/steer", OPERATE, 202, {"text": "Hello."}),
    Route("GET", SESSION + "/yields", READ, 200),
    Route("GET", SESSION + "/ask_user/pending", READ, 200),
    Route("POST", SESSION + "/ask_user/respond", OPERATE, 202, {"response": "a.md"}),
    Route("POST", WAIT + "/cancel", OPERATE, 202),
    Route("POST", WAIT + "/settle", OPERATE, 202, {"outcome": "failed"}, state="unknown"),
    Route("GET", "/inbox", READ, 200, home=True),
    Route("GET", "/workers", READ, 200, home=True),
]


def test_every_route_of_the_router_is_on_the_list():
    found = {
        (method, path)
        for bound in api._get_bound_routers()
        for path, view in bound.path_operations.items()
        for operation in view.operations
        for method in operation.methods
        if operation.view_func.__module__.startswith("sessions.")
    }
    assert found == {(route.method, route.path) for route in ROUTES}
    assert len(ROUTES) == len(found)


@pytest.fixture
def world(acme, make_agent):
    """Make the things a route is called on, in the test's own transaction; the values of its path."""
    from sessions.engine import runner
    from sessions.engine.process import Process

    process = Process(1)
    process.beat()

    def make(state: str) -> dict[str, str]:
        slug = make_agent(SCRIPT)
        session, _ = start_session(SYSTEM, acme, slug, "A secret errand.")
        runner.work(process)
        wait = Yield.objects.get(session=session)
        if state == "paused":
            pause_session(SYSTEM, session)
        elif state == "attention":
            attention = {"code": "poison", "message": "x", "since": "2026-01-01T00:00:00+00:00"}
            Session.objects.filter(pk=session.pk).update(attention=attention)
        elif state == "unknown":
            Yield.objects.filter(pk=wait.pk).update(kind="unknown_outcome", phase="unknown")
        return {"session": str(session.pk), "wait": str(wait.pk), "slug": slug, "call": text_of(wait.call) or ""}

    return make


def call(token: str, route: Route, places: dict[str, str]):
    path, body = route.path, route.body
    if "model-providers/" in path:
        places = places | {"slug": "scripted"}
    for name, value in places.items():
        path = path.replace(f"{{{name}}}", value)
        body = body if body is None else {k: v.replace(f"{{{name}}}", value) for k, v in body.items()}
    return Caller(token).call(route.method, f"/api{path}", body)


def rows():
    tables = (Provider, Agent, Session, Yield, JournalEntry)
    return [sorted(map(str, table.objects.values_list())) for table in tables]


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_only_who_may_gets_through(route, world, acme, other):
    places = world(route.state)
    before = rows()
    _, revoked = tokens.issue(acme, Role.ADMIN, "revoked", SYSTEM)
    operations.revoke_token(SYSTEM, acme, str(ApiToken.objects.get(name="revoked").pk))
    for nobody in ("", revoked, "layby_" + "x" * 43):
        assert call(nobody, route, places).problem(401, "unauthenticated")
        assert rows() == before

    _, foreign = tokens.issue(other, Role.ADMIN, "foreign", SYSTEM)
    seen = call(foreign, route, places)
    if route.home:
        # It is about their own workspace: nothing of ours is in the answer, nothing of ours has changed.
        assert seen.status in (route.status, 422)
        assert not any(value in str(seen.body) for value in [*places.values(), "A secret errand."] if value)
    else:
        seen.problem(404, "not_found")
        missing = call(foreign, route, dict.fromkeys(places, "no-such-thing"))
        assert seen.body | {"detail": ""} == missing.body | {"detail": ""}, "a foreign one looks like a missing one"
    if not route.home or route.method == "GET":
        assert rows() == before

    for role in Role:
        _, token = tokens.issue(acme, role, role, SYSTEM)
        if not allows(role, route.need):
            before = rows()
            call(token, route, places).problem(403, "forbidden")
            assert rows() == before
            continue
        call(token, route, places).ok(route.status)
        places = world(route.state)
        Agent.objects.filter(slug="fresh").update(slug=f"not-{role}")
        Provider.objects.filter(slug="fresh").update(slug=f"not-{role}")


def test_who_loses_the_role_loses_the_right_at_once(world, acme):
    places = world("parked")
    token, raw = tokens.issue(acme, Role.OPERATOR, "operator", SYSTEM)
    route = Route("POST", SESSION + "/ask_user/respond", OPERATE, 202, {"response": "a.md"})
    ApiToken.objects.filter(pk=token.pk).update(role=Role.VIEWER)
    call(raw, route, places).problem(403, "forbidden")
