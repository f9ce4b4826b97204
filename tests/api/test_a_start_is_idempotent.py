"""The same idempotency key starts one session, however many ask at once; a foreign key is never visible."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from sessions.models import JournalEntry, Session
from sessions.operations.agents import create_agent
from sessions.operations.providers import seed
from tests.api.conftest import SCRIPT, Caller
from workspaces.actors import SYSTEM

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_known_key_brings_the_session_back(make_agent, operator, approver):
    body = {"agent": make_agent(SCRIPT), "input": "Go.", "idempotency_key": "order-7"}
    first = operator.post("/api/sessions", body).ok(201)
    again = approver.post("/api/sessions", {**body, "input": "Something else."}).ok(200)
    assert again == first
    assert Session.objects.count() == 1 and JournalEntry.objects.count() == 1
    assert operator.post("/api/sessions", {**body, "idempotency_key": "order-8"}).ok(201)["id"] != first["id"]


def test_a_key_of_another_workspace_is_not_known(make_agent, operator, stranger, other):
    body = {"agent": make_agent(SCRIPT), "input": "Go.", "idempotency_key": "order-7"}
    first = operator.post("/api/sessions", body).ok(201)
    seed(SYSTEM, other)
    create_agent(SYSTEM, other, body["agent"], "Theirs", {"model": "scripted:x"})
    assert stranger.post("/api/sessions", body).ok(201)["id"] != first["id"]


@pytest.mark.parametrize("round_", range(5))
def test_of_many_at_once_one_starts(make_agent, operator_token, round_):
    body = {"agent": make_agent(SCRIPT), "input": "Go.", "idempotency_key": f"order-{round_}"}
    callers = 6
    together = threading.Barrier(callers)

    def start(_):
        try:
            # A connection of this thread's own, open before the others are let go.
            connection.ensure_connection()
            together.wait(10)
            return Caller(operator_token).post("/api/sessions", body)
        finally:
            connection.close()

    with ThreadPoolExecutor(callers) as pool:
        answers = list(pool.map(start, range(callers)))
    assert sorted(answer.status for answer in answers) == [200] * (callers - 1) + [201]
    assert len({answer.body["id"] for answer in answers}) == 1
    assert Session.objects.count() == 1 and JournalEntry.objects.count() == 1


def test_a_start_that_waits_for_another_with_its_key_gets_that_one(make_agent, operator_token, acme):
    """The first has stored and not committed; the second waits for it on the unique key and sees its session."""
    from django.db import transaction

    from sessions.operations.sessions import start_session
    from tests.sessions.conftest import in_thread, until_blocked

    slug = make_agent(SCRIPT)
    with transaction.atomic():
        session, created = start_session(SYSTEM, acme, slug, "Go.", idempotency_key="k")
        body = {"agent": slug, "input": "Go.", "idempotency_key": "k"}
        second = in_thread(lambda: Caller(operator_token).post("/api/sessions", body))
        # Seen from a third connection: inside a transaction the activity view stands still.
        in_thread(lambda: until_blocked(second)).result(15)
    assert created and second.result(10).ok(200)["id"] == str(session.pk)
