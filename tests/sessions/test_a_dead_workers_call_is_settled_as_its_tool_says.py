"""A worker that dies between the start of a body and its result: rerun, cancelled, or a person is asked."""

import pytest

from sessions.engine import store, sweep
from sessions.engine.memory import Memory
from sessions.engine.process import Process
from sessions.errors import WrongKind
from sessions.models import Session, Worker
from sessions.operations.answers import answer, cancel_wait, settle_unknown
from tests.sessions import toolset
from tests.sessions.conftest import call, journal, results, state, the_wait, work
from workspaces.errors import Invalid

pytestmark = pytest.mark.django_db(transaction=True)


class Died(BaseException):
    """Stands for a kill: nothing of the engine's runs after it. The process-level kills are in tests/faults."""


def die_in(name, worker):
    def act(_):
        raise Died

    toolset.ACTS[name] = act
    with pytest.raises(Died):
        work(worker)
    del toolset.ACTS[name]


@pytest.fixture
def successor(worker):
    """A worker that finds the first one dead."""

    def make():
        Worker.objects.filter(pk=worker.boot_id).update(alive_until="2000-01-01T00:00:00Z")
        heir = Process(1)
        heir.beat()
        for session, boot in store.stranded([worker.boot_id]):
            store.reclaim(session, boot)
        return heir

    return make


def started_and_died(start, worker, name):
    session = start([{"calls": [call(name)]}, {"say": "Done: {{ result }}"}], tools=["test"])
    die_in(name, worker)
    assert state(session) == "running"
    return session


def test_a_tool_that_may_rerun_runs_again_with_the_same_key(start, worker, successor):
    session = started_and_died(start, worker, "again")
    work(successor())
    assert state(session) == "completed"
    keys = {key for _, key in toolset.RAN}
    assert len(toolset.RAN) == 2 and len(keys) == 1


def test_a_tool_whose_crash_means_cancelled_is_settled_without_running(start, worker, successor):
    session = started_and_died(start, worker, "stop")
    work(successor())
    assert results(session)[0][1] == "cancelled"
    assert len(toolset.RAN) == 1 and state(session) == "completed"


def test_any_other_tool_waits_for_a_person_and_does_not_run_again(start, worker, successor):
    session = started_and_died(start, worker, "once")
    heir = successor()
    work(heir)
    wait = the_wait(session)
    assert (state(session), wait.kind, wait.reason, wait.deadline_at) == ("parked", "unknown_outcome", "question", None)
    assert wait.event_key == f"outcome:{session.pk}:{wait.call}"
    assert len(toolset.RAN) == 1
    work(heir)
    assert session.yields.count() == 1


@pytest.mark.parametrize(("outcome", "status"), [("succeeded", "succeeded"), ("failed", "failed")])
def test_a_person_says_how_it_ended(start, worker, successor, alice_actor, outcome, status):
    session = started_and_died(start, worker, "once")
    heir = successor()
    work(heir)
    settle_unknown(alice_actor, session, str(the_wait(session).pk), outcome, {"id": 7}, "looked it up")
    work(heir)
    assert results(session) == [("test__once", status, '{"id":7}')]
    assert state(session) == "completed" and len(toolset.RAN) == 1
    journal(session)


def test_a_person_lets_it_run_again_with_the_same_key(start, worker, successor, alice_actor):
    session = started_and_died(start, worker, "once")
    heir = successor()
    work(heir)
    settle_unknown(alice_actor, session, str(the_wait(session).pk), "rerun")
    work(heir)
    assert results(session) == [("test__once", "succeeded", "once ran")]
    assert len(toolset.RAN) == 2 and len({key for _, key in toolset.RAN}) == 1


def test_a_second_crash_of_the_same_call_asks_again(start, worker, successor, alice_actor):
    session = started_and_died(start, worker, "once")
    heir = successor()
    work(heir)
    settle_unknown(alice_actor, session, str(the_wait(session).pk), "rerun")
    die_in("once", heir)
    store.reclaim(session.pk, heir.boot_id, certain=True)
    work(heir)
    assert the_wait(session).attempt == 2
    assert state(session) == "parked"


def test_an_unknown_outcome_takes_no_answer_and_no_odd_word(start, worker, successor, alice_actor):
    session = started_and_died(start, worker, "once")
    work(successor())
    wait = str(the_wait(session).pk)
    with pytest.raises(WrongKind):
        answer(alice_actor, session, "yes", wait=wait)
    with pytest.raises(Invalid, match="succeeded, failed, rerun"):
        settle_unknown(alice_actor, session, wait, "perhaps")
    assert state(session) == "parked"


def test_three_dead_workers_in_a_row_set_the_session_aside(start, worker, alice_actor):
    session = start([{"calls": [call("again")]}], tools=["test"])
    for attempt in (1, 2, 3):
        die_in("again", worker)
        assert store.reclaim(session.pk, worker.boot_id, certain=True)
        row = Session.objects.get(pk=session.pk)
        assert row.state == ("parked" if attempt == 3 else "resumable")
    assert "poison" in str(row.attention)
    assert work(worker) == 0


def test_a_session_in_a_living_workers_hand_is_not_reclaimed(start, worker):
    session = start([{"calls": [call("again")]}], tools=["test"])
    die_in("again", worker)
    sweep.reclaim(Process(1))
    assert state(session) == "running"


def test_a_worker_that_lost_the_session_writes_nothing_but_a_note(start, worker, alice_actor):
    session = start([{"calls": [call("once")]}], tools=["test"])
    toolset.ACTS["once"] = lambda _: store.cancel(session.pk, alice_actor, "stop it") or "too late"
    work(worker)
    assert state(session) == "cancelled"
    _tool, status, result = results(session)[0]
    assert status == "cancelled" and "may have had effects" in str(result)
    assert journal(session)[-1] == "result.late"
    memory = Memory.load(session.pk)
    assert not memory.open_calls()


def test_a_question_about_an_unknown_outcome_that_is_cancelled_never_says_that_nothing_was_done(
    start, worker, successor, alice_actor
):
    session = started_and_died(start, worker, "once")
    heir = successor()
    work(heir)
    cancel_wait(alice_actor, session, str(the_wait(session).pk), "nobody knows")
    work(heir)
    _tool, status, text = results(session)[0]
    assert status == "cancelled" and "may have had effects" in text and "nobody knows" in text
