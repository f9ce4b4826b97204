"""A pause that commits between the worker's safe point and its next write: no body starts, no park hides it."""

import threading

import pytest
from django.db import transaction

from sessions.engine import store
from sessions.engine.frontier import Frontier
from sessions.engine.lease import Paused
from sessions.engine.memory import Memory
from sessions.models import Call
from sessions.operations.sessions import pause_session
from tests.sessions.conftest import call, in_thread, state, until_blocked

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def claimed(start, worker):
    """A claimed session with one recorded call that has not started: (session, lease, frame)."""
    session = start([{"calls": [call("once")]}])
    lease = store.claim(worker.boot_id).lease
    memory = Memory.load(session.pk)
    new = store.NewCall(session.pk, "p1", "test__once", "{}", "write", "unknown")
    store.record_reply(lease, memory.frame, 2, 1, '{"text":""}', [new], {})
    return session, lease, memory.frame


def test_a_start_that_comes_second_does_not_happen(claimed, alice_actor):
    session, lease, _ = claimed
    pause_session(alice_actor, session)
    with pytest.raises(Paused):
        store.start_calls(lease, [(session.pk, "test__once")])
    assert Call.objects.get(session=session).status == "pending"
    assert not session.journal.filter(kind="call.started").exists()


def test_a_start_waits_for_a_pause_not_yet_committed_and_does_not_happen(claimed, alice_actor):
    session, lease, _ = claimed
    asked, go = threading.Event(), threading.Event()

    def pause():
        with transaction.atomic():
            store.pause(session.pk, alice_actor)
            asked.set()
            assert go.wait(10)

    pausing = in_thread(pause)
    assert asked.wait(10)
    starting = in_thread(lambda: store.start_calls(lease, [(session.pk, "test__once")]))
    until_blocked(starting)
    go.set()
    pausing.result(10)
    with pytest.raises(Paused):
        starting.result(10)
    assert Call.objects.get(session=session).status == "pending"


def test_the_short_way_of_parking_leaves_a_paused_session_to_the_long_one(claimed, alice_actor):
    session, lease, frame = claimed
    pause_session(alice_actor, session)
    waits = [store.NewWait(frame, session.pk, "ask_user", "question", shown={"prompt": "?"})]
    frontier = Frontier(str(frame), 1, (str(session.pk),), ())
    assert store.park_asking(lease, frontier, waits) is False
    assert state(session) == "running" and not session.yields.exists()
    assert store.park(lease, frontier, waits)
    assert state(session) == "paused" and session.yields.filter(outcome__isnull=True).count() == 1
