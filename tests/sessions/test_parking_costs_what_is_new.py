"""The statements to park a question and to go on are a small constant, whatever the history's length."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions.operations.answers import answer
from tests.sessions.conftest import ASK, call, state, the_wait, work

pytestmark = pytest.mark.django_db(transaction=True)

TRANSACTIONS = re.compile(r"^(BEGIN|COMMIT|SAVEPOINT|RELEASE|SELECT pg_catalog|SET )", re.I)


def named(captured: CaptureQueriesContext) -> list[str]:
    """The names of the statements, without the transactions' own."""
    found = []
    for query in captured.captured_queries:
        sql: Any = query["sql"]
        if not TRANSACTIONS.match(sql):
            name = re.match(r"/\* ([a-z_.]+)", sql)
            found.append(name.group(1) if name else sql[:60])
    # Which priority and workspace is looked at first changes from claim to claim.
    return [name for name in found if name not in ("store.claim", "store.claim_any")]


def one_lap(session, worker, actor):
    with CaptureQueriesContext(connection) as parking:
        work(worker)
    assert state(session) == "parked"
    with CaptureQueriesContext(connection) as waking:
        answer(actor, session, "go on", wait=str(the_wait(session).pk))
    return named(parking), named(waking)


def test_the_tenth_park_costs_no_more_statements_than_the_second(start, worker, alice_actor):
    session = start([{"calls": [call("once"), ASK]}] * 20)
    laps = [one_lap(session, worker, alice_actor) for _ in range(10)]
    assert [len(p) for p, _ in laps[1:]] == [len(laps[1][0])] * 9
    assert [len(w) for _, w in laps] == [len(laps[0][1])] * 10
    assert len(laps[1][0]) <= 18, laps[1][0]
    assert len(laps[1][1]) <= 14, laps[1][1]


def test_a_question_alone_parks_in_few_statements(start, worker, alice_actor):
    session = start([{"calls": [ASK]}] * 5)
    one_lap(session, worker, alice_actor)
    parking, _ = one_lap(session, worker, alice_actor)
    assert len(parking) <= 8, parking
