"""A lease is taken back only from who is really gone, and only a failure counts as one."""

import socket
import threading
from datetime import timedelta

import pytest
from django.db import OperationalError, connection

from sessions.engine import process as processes
from sessions.engine import runner, store, sweep
from sessions.engine.process import Process
from sessions.models import Session, Worker
from sessions.operations.sessions import cancel_session, retry_session
from tests.sessions import toolset
from tests.sessions.conftest import call, in_thread, state, work
from workspaces import clock
from workspaces.ids import new_id

pytestmark = pytest.mark.django_db(transaction=True)


def fresh(session):
    return Session.objects.select_related("workspace").get(pk=session.pk)


def long_ago(session):
    Session.objects.filter(pk=session.pk).update(claimed_at=clock.db_now() - timedelta(seconds=60))


def test_a_session_cancelled_and_retried_in_one_process_is_not_taken_from_its_second_thread(start, worker, alice_actor):
    session = start([{"calls": [call("once")]}, {"calls": [call("again")]}, {"say": "ok"}])
    first, second = (threading.Event(), threading.Event()), (threading.Event(), threading.Event())
    toolset.ACTS["once"] = lambda _: (first[0].set(), first[1].wait(20), "one")[2]
    toolset.ACTS["again"] = lambda _: (second[0].set(), second[1].wait(20), "two")[2]
    one = in_thread(lambda: runner.work(worker))
    assert first[0].wait(10)
    cancel_session(alice_actor, session)
    retry_session(alice_actor, fresh(session))
    two = in_thread(lambda: runner.work(worker))
    assert second[0].wait(10)
    first[1].set()
    one.result(10)
    long_ago(session)
    assert sweep.orphans(worker) == 0
    second[1].set()
    two.result(10)
    assert state(session) == "completed"
    assert [name for name, _ in toolset.RAN] == ["once", "again"]


def test_a_database_that_goes_away_is_no_failure_of_the_session(start, worker):
    session = start([{"calls": [call("once")]}, {"say": "ok"}])
    for _ in range(4):
        claim = store.claim(worker.boot_id)
        assert claim is not None

        def away(execute, sql, params, many, context):
            if "memory.frame" in sql:
                raise OperationalError("the connection is lost")
            return execute(sql, params, many, context)

        with connection.execute_wrapper(away), worker.driving(session.pk, claim.lease.fence):
            runner.drive(worker, claim)
        long_ago(session)
        assert sweep.orphans(worker) == 1
        row = fresh(session)
        assert (row.state, row.attempts) == ("resumable", 0)
    work(worker)
    assert state(session) == "completed"


def test_a_thread_that_ended_without_a_word_is_one(start, worker):
    session = start([{"say": "ok"}])
    for _ in range(3):
        store.claim(worker.boot_id)
        long_ago(session)
        sweep.orphans(worker)
    assert fresh(session).attention["code"] == "poison"


@pytest.mark.parametrize(
    ("namespace", "dead"),
    [("", True), ("1", False)],
    ids=["of this namespace of process ids", "of another container on this host"],
)
def test_only_a_worker_whose_process_id_means_something_here_is_provably_dead(worker, namespace, dead):
    gone = Worker.objects.create(
        boot_id=new_id(),
        host=socket.gethostname(),
        host_boot=Worker.objects.get(pk=worker.boot_id).host_boot + namespace,
        pid=2**22 + 1,
        pid_started="123",
        started_at=clock.db_now(),
        alive_until=clock.db_now() + timedelta(seconds=30),
    )
    assert ":" in gone.host_boot
    assert (gone.boot_id in processes.provably_dead(Process(1).boot_id)) is dead
