"""An answer before, during and after the park, on two real connections: the session wakes exactly once."""

import threading

import pytest
from django.db import transaction

from sessions.engine import store
from sessions.engine.frontier import Frontier
from sessions.engine.memory import Memory
from sessions.models import Yield
from sessions.operations.answers import answer
from sessions.states import Outcome
from tests.sessions import toolset
from tests.sessions.conftest import ASK, call, in_thread, journal, loads, results, state, the_wait, until_blocked, work
from workspaces.actors import SYSTEM

pytestmark = pytest.mark.django_db(transaction=True)

SCRIPT = [{"calls": [call("once"), ASK]}, {"say": "Done: {{ result }}"}]


def woken_once(session, worker):
    work(worker)
    assert state(session) == "completed"
    assert loads(results(session)[1][2]) == {"response": "yes"}
    assert len(toolset.RAN) == 1
    assert journal(session).count("wait.closed") == 1


def test_an_answer_before_the_park_makes_the_park_refuse(start, worker, alice_actor):
    """The question is open while the call before it still runs: its answer is there before the park."""
    session = start(SCRIPT)
    toolset.ACTS["once"] = lambda _: (
        in_thread(lambda: answer(alice_actor, session, "yes", wait=str(the_wait(session).pk))).result(10).pk.hex
    )
    woken_once(session, worker)
    assert "session.parked" not in journal(session)


def test_an_answer_after_the_park_wakes_it(start, worker, alice_actor):
    session = start(SCRIPT)
    work(worker)
    assert state(session) == "parked"
    answer(alice_actor, session, "yes")
    woken_once(session, worker)


def open_question(session, worker):
    """A claimed session with an open question, and what its park needs."""
    claim = store.claim(worker.boot_id)
    memory = Memory.load(session.pk)
    calls = [store.NewCall(session.pk, "p1", "system__ask_user", '{"prompt":"?"}', "read", "rerun")]
    store.record_reply(claim.lease, memory.frame, 2, 1, '{"text":""}', calls, {})
    wait = store.NewWait(memory.frame, session.pk, "ask_user", "question", shown={"prompt": "?"})
    store.open_waits(claim.lease, [wait])
    return claim.lease, Frontier(str(memory.frame), 1, (), ()), Yield.objects.get(session=session)


def test_an_answer_that_meets_a_park_not_yet_committed_waits_for_it_and_wakes(start, worker):
    session = start(SCRIPT)
    lease, frontier, wait = open_question(session, worker)
    parked, go = threading.Event(), threading.Event()

    def park():
        with transaction.atomic():
            assert store.park(lease, frontier)
            parked.set()
            assert go.wait(10)

    parking = in_thread(park)
    assert parked.wait(10)
    answering = in_thread(lambda: store.resolve(session.pk, wait.pk, Outcome.ANSWERED, "yes", SYSTEM))
    until_blocked(answering)
    go.set()
    parking.result(10)
    assert answering.result(10).won
    assert state(session) == "resumable"


def test_a_park_that_meets_an_answer_not_yet_committed_waits_for_it_and_refuses(start, worker):
    session = start(SCRIPT)
    lease, frontier, wait = open_question(session, worker)
    answered, go = threading.Event(), threading.Event()

    def resolve():
        with transaction.atomic():
            store.resolve(session.pk, wait.pk, Outcome.ANSWERED, "yes", SYSTEM)
            answered.set()
            assert go.wait(10)

    answering = in_thread(resolve)
    assert answered.wait(10)
    parking = in_thread(lambda: store.park(lease, frontier))
    until_blocked(parking)
    go.set()
    answering.result(10)
    assert parking.result(10) is False
    assert state(session) == "running"


@pytest.mark.parametrize("first", ["answer", "cancel"])
def test_answer_and_cancel_at_once_have_one_winner(start, worker, alice_actor, first):
    session = start(SCRIPT)
    work(worker)
    wait = the_wait(session)
    held, go = threading.Event(), threading.Event()
    acts = {
        "answer": lambda: store.resolve(session.pk, wait.pk, Outcome.ANSWERED, "yes", alice_actor).won,
        "cancel": lambda: store.cancel(session.pk, alice_actor, "no") is None,
    }
    second = "cancel" if first == "answer" else "answer"

    def holder():
        with transaction.atomic():
            won = acts[first]()
            held.set()
            assert go.wait(10)
            return won

    one = in_thread(holder)
    assert held.wait(10)
    two = in_thread(acts[second])
    until_blocked(two)
    go.set()
    assert one.result(10)
    # A cancel after an answer is still a cancel; an answer after a cancel is too late.
    assert two.result(10) is (first == "answer")
    assert state(session) == "cancelled"
    assert Yield.objects.get(pk=wait.pk).outcome == ("answered" if first == "answer" else "cancelled")


def test_fifty_answers_at_once_have_one_winner_and_forty_nine_are_told(start, worker, alice_actor):
    session = start(SCRIPT)
    work(worker)
    wait = the_wait(session)
    barrier = threading.Barrier(10)

    def five(number):
        barrier.wait(10)
        return [
            store.resolve(session.pk, wait.pk, Outcome.ANSWERED, f"{number}.{i}", alice_actor).won for i in range(5)
        ]

    futures = [in_thread(lambda n=n: five(n)) for n in range(10)]
    won = [w for f in futures for w in f.result(30)]
    assert (len(won), won.count(True)) == (50, 1)
    assert journal(session).count("wait.late") == 49
    work(worker)
    assert journal(session).count("session.completed") == 1
