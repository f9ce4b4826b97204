"""A message that arrives while the run ends becomes the next turn, or its sender is told: never taken and dropped."""

import threading

import pytest
from django.db import transaction

from sessions.engine import store
from sessions.errors import Ended
from sessions.models import Session, Steer
from sessions.operations.sessions import steer_session
from tests.sessions.conftest import in_thread, state, until_blocked, work

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_message_that_comes_first_refuses_the_finish(start, worker, alice_actor):
    session = start([{"say": "ok"}])
    lease = store.claim(worker.boot_id).lease
    sent, go = threading.Event(), threading.Event()

    def send():
        with transaction.atomic():
            store.steer(session.pk, "wait", alice_actor)
            sent.set()
            assert go.wait(10)

    sending = in_thread(send)
    assert sent.wait(10)
    finishing = in_thread(lambda: store.finish(lease, "done"))
    until_blocked(finishing)
    go.set()
    sending.result(10)
    assert finishing.result(10) is False
    assert state(session) == "running"


def test_a_message_that_comes_second_is_refused_with_the_reason(start, worker, alice_actor):
    session = start([{"say": "ok"}])
    lease = store.claim(worker.boot_id).lease
    ended, go = threading.Event(), threading.Event()

    def finish():
        with transaction.atomic():
            assert store.finish(lease, "done")
            ended.set()
            assert go.wait(10)

    finishing = in_thread(finish)
    assert ended.wait(10)
    sending = in_thread(lambda: steer_session(alice_actor, Session.objects.get(pk=session.pk), "wait"))
    until_blocked(sending)
    go.set()
    finishing.result(10)
    with pytest.raises(Ended, match="completed"):
        sending.result(10)
    assert Steer.objects.count() == 0


def test_many_messages_beside_many_ends_are_each_read_or_refused(start, worker, alice_actor):
    sessions = [start([{"say": "ok"}] * 3) for _ in range(30)]
    accepted = []

    def send():
        for session in sessions:
            try:
                steer_session(alice_actor, session, f"to {session.pk}")
                accepted.append(session.pk)
            except Ended:
                pass

    sending = in_thread(send)
    while not sending.done():
        work(worker)
    sending.result()
    work(worker)
    assert {state(s) for s in sessions} == {"completed"}
    assert Steer.objects.filter(taken_at__isnull=True).count() == 0
    read = {m for s in sessions for m in s.messages.filter(role="user", n__gt=1).values_list("session_id", flat=True)}
    assert read == set(accepted)
