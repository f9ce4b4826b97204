"""The small threads that stand beside a Celery worker's pool, so that nothing needs a free slot or a message to heal.

heartbeat: renews the lease, on its own connection. timekeeper: the sweep, and claimable sessions whose hint was lost.
They outlive their step's `stop`, which only says that nothing more is claimed, and end on `worker_shutdown`: a step
that requires the pool is stopped before the pool drains, and a heartbeat that stopped then would lose the leases of
what still runs.
"""

import threading
import time
from functools import partial
from typing import Any

import structlog
from celery import bootsteps, signals
from django.conf import settings
from django.db import InterfaceError, OperationalError, connection

from sessions.contracts import ModelRequest, ProviderConfig, TranscriptMessage
from sessions.engine import process, runner, sweep
from sessions.engine.process import Process
from sessions.llm.request import request

TICK_SECONDS = 1.0
REST_AFTER_ERROR_SECONDS = 1.0

log = structlog.get_logger(__name__)


class Threads(bootsteps.StartStopStep):  # type: ignore[misc]
    """Starts heartbeat and timekeeper with the worker."""

    requires = {"celery.worker.components:Pool"}

    def start(self, worker: Any) -> None:
        """Begin to be a worker: the first heartbeat is written before anything is claimed."""
        me = process.begin(worker.concurrency)
        me.spread = partial(spread, me, worker.pool)
        ended = threading.Event()
        threads = [
            threading.Thread(target=heartbeat, args=(me, ended), name="layby-heartbeat", daemon=True),
            threading.Thread(target=timekeeper, args=(me, ended, worker.pool), name="layby-timekeeper", daemon=True),
            threading.Thread(target=warm_up, name="layby-warm-up", daemon=True),
        ]

        def stopping(**_: Any) -> None:
            me.stopping.set()

        def shutdown(**_: Any) -> None:
            me.stopping.set()
            ended.set()
            for thread in threads:
                thread.join(timeout=3)

        signals.worker_shutting_down.connect(stopping, weak=False)
        signals.worker_shutdown.connect(shutdown, weak=False)
        for thread in threads:
            thread.start()

    def stop(self, worker: Any) -> None:
        """Claim nothing more, or the pool might never drain; a remote `shutdown` sends no signal before this."""
        if (me := process.current()) is not None:
            me.stopping.set()


def heartbeat(me: Process, ended: threading.Event) -> None:
    """Renew until the worker has shut down, then take the row away."""
    failing = False
    while not ended.is_set():
        pause = float(settings.HEARTBEAT_SECONDS)
        try:
            me.beat()
            failing = False
        except Exception as error:  # noqa: BLE001 - the loop outlives whatever the database does
            if not failing:
                log.warning("heartbeat_failed", error=type(error).__name__)
            failing, pause = True, REST_AFTER_ERROR_SECONDS
            connection.close()
        # Stopping is told to the console at once, by a beat of its own.
        until = time.monotonic() + pause
        told = me.stopping.is_set()
        while not ended.is_set() and time.monotonic() < until and me.stopping.is_set() == told:
            ended.wait(0.5)
    try:
        me.leave()
    except Exception as error:  # noqa: BLE001 - the row runs out by itself
        log.warning("worker_row_kept", error=type(error).__name__)
    connection.close()


def timekeeper(me: Process, ended: threading.Event, pool: Any) -> None:
    """The sweep about every second; lost hints are made good from the rows, without the broker."""
    failing = False
    tick = 0
    while not ended.wait(TICK_SECONDS):
        try:
            sweep.once(me)
            if tick % 60 == 0:
                process.forget_old_workers()
            tick += 1
            if not me.stopping.is_set():
                submit(me, pool, sweep.forgotten(max(me.slots - me.busy, 0)))
            if failing:
                log.info("timekeeper_recovered")
            failing = False
        except Exception as error:
            if not failing:
                away = isinstance(error, OperationalError | InterfaceError)
                log.warning("timekeeper_failed", error=type(error).__name__, exc_info=not away)
            failing = True
        finally:
            connection.close()


def submit(me: Process, pool: Any, wanted: int) -> None:
    """Put *wanted* runs of the work loop into our own pool: the road that needs no broker."""
    for _ in range(wanted - me.submitted):
        with me.submitting():
            pool.apply_async(_work, (me,))


def spread(me: Process, pool: Any) -> None:
    """One more run of the work loop if a slot is free: who finds work wakes the next, until nothing is claimable."""
    if me.busy + 1 < me.slots and not me.stopping.is_set():
        submit(me, pool, 1)


def warm_up() -> None:
    """Import what the first model call needs (about three seconds), on the road every call takes, before it comes."""
    asked = TranscriptMessage("user", "Is everything here?")
    script = ({"say": "Yes."},)
    request(ModelRequest(ProviderConfig("scripted"), "warm-up", "", (asked,), script=script))


def _work(me: Process) -> None:
    # Submitted past Celery's own prerun and postrun: the loop closes its connection itself.
    me.begun()
    try:
        runner.work(me)
    except Exception as error:  # noqa: BLE001 - in a pool thread nobody else would hear of it
        log.warning("work_interrupted", error=type(error).__name__)
