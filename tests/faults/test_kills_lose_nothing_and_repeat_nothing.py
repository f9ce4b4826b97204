"""Kill -9 of a worker, the database and the broker while one session runs and one waits: both go on, bodies ran once.

Judged by an outside witness that the tools write to.
"""

import signal
import threading
from pathlib import Path

import pytest

from tests.faults.conftest import ASK
from tests.strict.openai_server import StrictOpenAI
from tests.strict.plan import Call, Hang, Reply

pytestmark = [pytest.mark.stack, pytest.mark.fault]


def slow(seconds, tool="slow"):
    return {"tool": f"witness__{tool}", "arguments": {"seconds": seconds}}


def test_a_killed_worker_in_each_kind_of_work(here):
    """In a model call: made again. In a tool that reruns: again, same key. In one that doesn't: a person is asked."""
    script = [Hang(seconds=60), Reply(calls=[Call("witness__slow", {"seconds": 0})]), Reply("All done.")]
    with StrictOpenAI(script=script) as server:
        status, answer = here.call(
            "POST",
            "/api/model-providers",
            {"slug": "strict", "kind": "openai", "base_url": server.base_url, "api_key": server.api_key},
        )
        assert status == 201, answer
        waiting = here.parked()

        modelling = here.start(here.agent([], model="strict:gpt"))
        here.stack.until(lambda: len(server.requests) == 1, 20, "the model was not called")
        here.stack.until_restarted("worker-1", here.stack.kill("worker-1"))
        here.until(modelling, "completed")
        assert len(here.witness.lines("begin")) == 1
        assert server.refusals == []

    rerun = here.start(here.agent([{"calls": [slow(3, "slow_again")]}, {"say": "ok"}]))
    here.seen("begin", 2)
    here.stack.until_restarted("worker-1", here.stack.kill("worker-1"))
    here.until(rerun, "completed")
    first, second = here.witness.lines("begin")[1:]
    assert first == second and here.witness.lines("end")[1:] == [first]

    asked = here.start(here.agent([{"calls": [slow(3)]}, {"say": "{{ result }}"}]))
    here.seen("begin", 4)
    here.stack.until_restarted("worker-1", here.stack.kill("worker-1"))
    here.until(asked, "parked")
    (wait,) = here.call("GET", f"/api/sessions/{asked}")[1]["waiting"]
    assert wait["kind"] == "unknown_outcome" and wait["tool"] == "witness__slow"
    status, answer = here.call(
        "POST", f"/api/sessions/{asked}/yields/{wait['id']}/settle", {"outcome": "succeeded", "result": "it was sent"}
    )
    assert status == 202, answer
    here.until(asked, "completed")
    assert here.call("GET", f"/api/sessions/{asked}")[1]["output"] == "it was sent"
    assert len(here.witness.lines("begin")) == 4

    assert here.state(waiting) == "parked"
    here.answer(waiting)
    here.until(waiting, "completed")


@pytest.mark.parametrize("part", ["postgres", "valkey"])
def test_a_killed_service_while_one_runs_and_one_waits(here, part):
    waiting = here.parked()
    running = here.start(here.agent([{"calls": [slow(4), ASK]}, {"say": "ok"}]))
    here.seen("begin", 1)
    here.stack.until_restarted(part, here.stack.kill(part))
    here.again()
    here.until(running, "parked")
    for session in (waiting, running):
        here.answer(session)
    for session in (waiting, running):
        here.until(session, "completed")
    assert len(here.witness.lines("begin")) == len(here.witness.lines("end")) == 1


def test_killed_whole_while_parked_it_goes_on_after_the_next_start(here):
    waiting = here.parked()
    here.stack.kill("up")
    here.stack.start()
    assert here.state(waiting) == "parked"
    here.answer(waiting)
    here.until(waiting, "completed")


def test_eleven_wait_and_a_worker_of_ten_slots_runs_a_twelfth_with_nothing_held_for_them(here):
    agent = here.agent([{"calls": [ASK]}, {"say": "ok"}])
    run = [here.start(here.agent([{"calls": [slow(0.5)]}, {"say": "ok"}])) for _ in range(11)]
    for session in run:
        here.until(session, "completed")
    before = held(here)
    parked = [here.start(agent) for _ in range(11)]
    for session in parked:
        here.until(session, "parked")
    twelfth = here.start(here.agent([{"calls": [slow(0)]}, {"say": "ok"}]))
    here.until(twelfth, "completed")
    here.stack.until(lambda: busy(here) == [0], 15, "the worker was still busy")
    assert held(here) <= before  # what the pools keep, and nothing for eleven waits
    for session in parked:
        here.answer(session)
    for session in parked:
        here.until(session, "completed")


def busy(here):
    """How many sessions the worker drives, by its last heartbeat; one killed a moment ago still has its own row."""
    pid = here.stack.pid_of("worker-1")
    return [worker["busy"] for worker in here.call("GET", "/api/workers")[1]["items"] if worker["pid"] == pid]


def held(here):
    """(open sockets, threads) of the worker, counted from outside."""
    process = Path(f"/proc/{here.stack.pid_of('worker-1')}")
    sockets = sum(1 for fd in (process / "fd").iterdir() if "socket" in str(fd.readlink()))
    return sockets, len(list((process / "task").iterdir()))


def test_a_stopped_worker_gives_back_what_it_runs_and_nobody_is_asked(here):
    """SIGTERM to the worker in a body: it ends the body, records it and gives the session back."""
    running = here.start(here.agent([{"calls": [slow(3), slow(0)]}, {"say": "ok"}]))
    here.seen("begin", 1)
    old = here.stack.kill("worker-1", signal.SIGTERM)
    here.stack.until_restarted("worker-1", old)
    here.until(running, "completed")
    assert len(here.witness.lines("begin")) == 2
    assert here.call("GET", f"/api/sessions/{running}")[1]["waiting"] == []


def test_a_broker_that_stays_away_stops_nothing(here):
    """Valkey frozen: starts and answers are stored and driven by the timekeeper's own road."""
    waiting = here.parked()
    pid = here.stack.pid_of("valkey")
    here.stack.kill("valkey", signal.SIGSTOP)
    thaw = threading.Timer(60, lambda: here.stack.kill("valkey", signal.SIGCONT))
    thaw.start()
    try:
        here.answer(waiting)
        here.until(waiting, "completed", 30)
    finally:
        thaw.cancel()
        here.stack.kill("valkey", signal.SIGCONT)
    assert here.stack.pid_of("valkey") == pid
