"""Nothing is replayed: resume continues the transcript, on whatever worker."""

import pytest

from sessions.engine.process import Process
from sessions.operations.answers import answer
from tests.sessions import toolset
from tests.sessions.conftest import ASK, call, results, state, the_wait, work

pytestmark = pytest.mark.django_db(transaction=True)


def test_ten_laps_of_a_body_and_a_question_are_ten_bodies_and_ten_questions(start, worker, alice_actor):
    session = start([{"calls": [call("once"), ASK]}] * 10 + [{"say": "ok"}])
    for lap in range(10):
        work(worker)
        assert len(toolset.RAN) == lap + 1
        answer(alice_actor, session, f"lap {lap}", wait=str(the_wait(session).pk))
    work(worker)
    assert state(session) == "completed"
    assert len(toolset.RAN) == session.yields.count() == 10


def test_each_wake_may_be_driven_by_another_worker(start, worker, alice_actor):
    session = start([{"calls": [call("once"), ASK]}] * 4 + [{"say": "ok"}])
    work(worker)
    for number in range(4):
        answer(alice_actor, session, f"lap {number}", wait=str(the_wait(session).pk))
        fresh = Process(1)
        fresh.beat()
        work(fresh)
        fresh.leave()
    assert state(session) == "completed" and len(toolset.RAN) == 4


def test_answering_one_of_two_runs_nothing_again_and_asks_nothing_again(start, worker, alice_actor):
    session = start([{"calls": [call("once"), ASK, ASK]}, {"say": "ok"}])
    work(worker)
    first, second = session.yields.order_by("opened_at", "id")
    answer(alice_actor, session, "one", wait=str(first.pk))
    assert work(worker) == 0 and state(session) == "parked"
    answer(alice_actor, session, "two", wait=str(second.pk))
    work(worker)
    assert len(toolset.RAN) == 1 and session.yields.count() == 2
    assert [s for _, s, _ in results(session)] == ["succeeded"] * 3
