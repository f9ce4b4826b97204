"""What heals without a message: the timekeeper's duties, on real rows, and its way into the pool."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from sessions import bootsteps, hints
from sessions.engine import store, sweep
from sessions.engine.process import Process
from sessions.models import Session, Worker
from tests.sessions import toolset
from tests.sessions.conftest import call, results, state

pytestmark = pytest.mark.django_db(transaction=True)


class Pool:
    """A pool like Celery's threads pool, as far as the timekeeper uses it."""

    def __init__(self, threads=2):
        self.threads = ThreadPoolExecutor(threads)

    def apply_async(self, act, arguments):
        self.threads.submit(act, *arguments)


def test_a_session_whose_hint_was_lost_is_found_and_driven(start, worker, monkeypatch):
    monkeypatch.setattr(bootsteps, "TICK_SECONDS", 0.02)
    session = start([{"calls": [call("once")]}, {"say": "ok"}])
    ended, pool = threading.Event(), Pool()
    keeper = threading.Thread(target=bootsteps.timekeeper, args=(worker, ended, pool))
    keeper.start()
    try:
        for _ in range(500):
            if state(session) == "completed":
                break
            ended.wait(0.02)
    finally:
        ended.set()
        keeper.join(10)
        pool.threads.shutdown()
    assert state(session) == "completed"


def test_every_duty_runs_on_an_empty_database(worker):
    sweep.once(worker)
    assert sweep.forgotten(8) == 0


def test_the_claimable_are_counted_only_as_far_as_there_are_slots(start, worker):
    for _ in range(3):
        start([{"say": "ok"}])
    assert (sweep.forgotten(2), sweep.forgotten(8)) == (2, 3)


def test_a_session_no_thread_drives_is_given_back(start, worker):
    session = start([{"say": "ok"}])
    claim = store.claim(worker.boot_id)
    assert claim is not None
    assert sweep.orphans(worker) == 0  # just claimed: its thread may be about to begin
    Session.objects.filter(pk=session.pk).update(claimed_at="2020-01-01T00:00:00Z")
    with worker.driving(session.pk, claim.lease.fence):
        assert sweep.orphans(worker) == 0
    assert sweep.orphans(worker) == 1
    row = Session.objects.get(pk=session.pk)
    assert (row.state, row.attempts) == ("resumable", 1)


def test_a_worker_whose_process_is_gone_is_reclaimed_before_its_lease_ends(start, worker):
    session = start([{"say": "ok"}])
    store.claim(worker.boot_id)
    sweep.reclaim(Process(1))
    assert state(session) == "running"
    Worker.objects.filter(pk=worker.boot_id).update(pid_started="1")
    sweep.reclaim(Process(1))
    assert state(session) == "resumable"


def test_a_pool_busy_with_something_else_is_not_filled_with_runs_that_wait(worker):
    waiting = []

    class Busy:
        def apply_async(self, act, arguments):
            waiting.append((act, arguments))

    for _ in range(5):
        bootsteps.submit(worker, Busy(), 4)
    assert len(waiting) == 4
    for act, arguments in waiting:
        act(*arguments)
    bootsteps.submit(worker, Busy(), 4)
    assert len(waiting) == 8


def test_a_worker_told_to_stop_without_a_signal_claims_nothing_more(worker, monkeypatch):
    monkeypatch.setattr(bootsteps.process, "current", lambda: worker)
    bootsteps.Threads.stop(object(), object())
    assert worker.stopping.is_set()


def test_who_finds_work_sets_the_idle_slots_on_the_rest(start, worker):
    """One hint, four sessions that need each other: they run side by side or not at all."""
    meet = threading.Barrier(4)
    toolset.ACTS["once"] = lambda _: f"met as {meet.wait(10)}"
    sessions = [start([{"calls": [call("once")]}, {"say": "ok"}]) for _ in range(4)]
    pool = Pool(5)
    worker.slots = 6
    worker.spread = lambda: bootsteps.spread(worker, pool)
    bootsteps.submit(worker, pool, 1)
    for _ in range(1000):
        if {state(s) for s in sessions} == {"completed"}:
            break
        time.sleep(0.01)
    pool.threads.shutdown()
    assert {state(s) for s in sessions} == {"completed"}
    assert {results(s)[0][1] for s in sessions} == {"succeeded"}


def test_a_burst_of_hints_is_few_messages_and_the_last_one_is_sent(monkeypatch):
    sent, last = [], threading.Event()
    monkeypatch.setattr(hints, "send", lambda: (sent.append(1), last.set()))
    burst = hints.Hints()
    for _ in range(500):
        burst.ask()
    assert len(sent) < 100
    last.clear()
    burst.ask()
    assert last.wait(5)
