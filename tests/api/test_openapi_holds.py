"""The OpenAPI document against the API: generated calls get no server error, and answers are as it describes them.

Bounded: a few examples for each operation, always the same ones.
"""

import itertools
import json
from functools import cache

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from config.api import api
from sessions.models import Yield
from tests.api.conftest import SCRIPT
from workspaces import tokens
from workspaces.actors import SYSTEM
from workspaces.roles import Role

pytestmark = pytest.mark.django_db

EXAMPLES = 8
DESCRIBED = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]
DOCUMENT = json.loads(json.dumps(api.get_openapi_schema(), default=str))
OPERATIONS = [(path, method) for path, methods in DOCUMENT["paths"].items() for method in methods]
OURS = [
    (path, method)
    for path, method in OPERATIONS
    if DOCUMENT["paths"][path][method]["operationId"].startswith("sessions_")
]


def test_every_operation_describes_its_errors():
    for path, method in OURS:
        operation = DOCUMENT["paths"][path][method]
        found = {int(status) for status in operation["responses"]}
        assert {401, 503} <= found and operation["description"], (path, method)
        assert method == "get" or {403, 413, 422} <= found, (path, method)
        assert "{" not in path or 404 in found, (path, method)
        for status, answer in operation["responses"].items():
            (kind,) = answer["content"]
            assert kind == ("application/json" if int(status) < 400 else "application/problem+json")
            assert answer["content"][kind]["schema"], (path, method, status)


@pytest.fixture
def places(make_agent, acme):
    """Real values for the paths' parameters: a call that finds nothing proves little."""
    from sessions.engine import runner
    from sessions.engine.process import Process
    from sessions.operations.sessions import start_session

    slug = make_agent(SCRIPT)
    session, _ = start_session(SYSTEM, acme, slug, "Go.")
    process = Process(1)
    process.beat()
    runner.work(process)
    wait = Yield.objects.get()
    return {"session": str(session.pk), "wait": str(wait.pk), "slug": slug}


@cache
def loaded():
    return schemathesis.openapi.from_wsgi("/api/openapi.json", get_wsgi_application())


@pytest.fixture
def schema(db):
    # As Django's own test client does: the end of a request would close the connection of the test's transaction.
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield loaded()
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.mark.parametrize(("path", "method"), OPERATIONS, ids=lambda part: part)
def test_generated_calls_are_answered_as_described(schema, places, acme, path, method):
    headers = {"Authorization": f"Bearer {tokens.issue(acme, Role.ADMIN, 'all', SYSTEM)[1]}"}
    operation = schema[path][method.upper()]
    if "model-providers" in path:
        places["slug"] = "scripted"
    numbers = itertools.count()

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate],
    )
    @given(case=operation.as_strategy(), real=st.booleans())
    def run(case, real):
        if (real or next(numbers) % 2) and case.path_parameters:
            case.path_parameters = {name: places.get(name, given) for name, given in case.path_parameters.items()}
        answer = case.call(headers=headers)
        case.validate_response(answer, checks=DESCRIBED if (path, method) in OURS else [not_a_server_error])
        print("STATUS", method, path, answer.status_code)

    run()
