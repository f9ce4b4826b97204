"""A pause is carried out wherever the session leaves its worker, and taken back only by a person."""

import pytest

from sessions.engine import store
from sessions.engine.run import Run
from sessions.errors import WrongState
from sessions.models import ParkedState, Session
from sessions.operations.answers import answer
from sessions.operations.sessions import pause_session, resume_session, retry_session
from tests.sessions import toolset
from tests.sessions.conftest import ASK, call, journal, state, work

pytestmark = pytest.mark.django_db(transaction=True)


def fresh(session):
    return Session.objects.select_related("workspace").get(pk=session.pk)


def test_while_it_parks(start, worker, alice_actor):
    session = start([{"calls": [call("wait", name="x")]}, {"say": "ok"}])
    toolset.ACTS["external"] = lambda _: pause_session(alice_actor, session)
    work(worker)
    row = fresh(session)
    assert (row.state, row.pause_requested) == ("paused", False)
    assert journal(session)[-2:] == ["session.parked", "session.paused"]
    store.publish(session.workspace_id, "external:x:", 1, alice_actor)
    assert work(worker) == 0 and state(session) == "paused"
    resume_session(alice_actor, session)
    work(worker)
    assert state(session) == "completed"


def test_while_its_worker_stops(start, worker, alice_actor):
    session = start([{"say": "ok"}])
    claim = store.claim(worker.boot_id)
    assert claim is not None
    pause_session(alice_actor, session)
    store.release(claim.lease)
    assert state(session) == "paused" and not fresh(session).pause_requested
    resume_session(alice_actor, session)
    work(worker)
    assert state(session) == "completed"
    journal(session)


def test_when_its_worker_died(start, worker, alice_actor):
    session = start([{"say": "ok"}])
    store.claim(worker.boot_id)
    pause_session(alice_actor, session)
    assert store.reclaim(session.pk, worker.boot_id, certain=True)
    row = fresh(session)
    assert (row.state, row.pause_requested, row.attempts) == ("paused", False, 1)
    assert work(worker) == 0
    resume_session(alice_actor, session)
    work(worker)
    assert state(session) == "completed"
    journal(session)


def test_but_not_when_it_was_taken_back_before_the_safe_point(start, worker, alice_actor):
    session = start([{"say": "ok"}])
    claim = store.claim(worker.boot_id)
    assert claim is not None
    pause_session(alice_actor, session)
    run = Run(worker, claim)
    resume_session(alice_actor, session)
    store.pause_here(claim.lease, run.frontier())
    assert state(session) == "resumable"
    work(worker)
    assert state(session) == "completed"
    journal(session)


def test_after_it_the_calls_before_an_open_question_run_and_do_not_wait_for_its_answer(start, worker, alice_actor):
    session = start([{"calls": [call("once"), call("again"), ASK]}, {"say": "ok"}])
    toolset.ACTS["once"] = lambda _: pause_session(alice_actor, session) or "x"
    work(worker)
    assert state(session) == "paused"
    resume_session(alice_actor, session)
    assert state(session) == "resumable"
    work(worker)
    assert state(session) == "parked" and [name for name, _ in toolset.RAN] == ["once", "again"]


def test_a_running_session_that_nobody_pauses_cannot_be_resumed(start, worker, alice_actor):
    session = start([{"say": "ok"}])
    store.claim(worker.boot_id)
    with pytest.raises(WrongState):
        resume_session(alice_actor, session)


def test_a_retry_judges_the_row_and_not_the_page_it_was_pressed_on(start, worker, alice_actor):
    session = start([{"calls": [ASK]}, {"say": "ok"}])
    work(worker)
    seen_before = fresh(session)
    answer(alice_actor, session, "yes")
    ParkedState.objects.filter(session=session).update(schema_version=99)
    work(worker)
    ParkedState.objects.filter(session=session).update(schema_version=1)
    retry_session(alice_actor, seen_before)
    work(worker)
    assert state(session) == "completed"


def test_a_park_that_waits_for_nothing_is_refused(start, worker):
    session = start([{"say": "ok"}])
    claim = store.claim(worker.boot_id)
    assert claim is not None
    with pytest.raises(RuntimeError, match="nobody would ever wake it"):
        store.park(claim.lease, Run(worker, claim).frontier())
    assert state(session) == "running"
