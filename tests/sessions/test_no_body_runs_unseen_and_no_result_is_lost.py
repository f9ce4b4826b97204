"""Whatever stops one body: the results beside it are written, its own end is known, and nobody waits for nothing."""

import asyncio

import pytest
from django.db import connections

from sessions.contracts import ToolError, YieldRequest
from sessions.engine import dispatch, runner, store
from sessions.engine.gates import Verdict
from sessions.engine.lease import LeaseLost
from sessions.models import Session
from sessions.operations.sessions import retry_session
from tests.sessions import toolset
from tests.sessions.conftest import ASK, call, journal, results, state, the_wait, work

pytestmark = pytest.mark.django_db(transaction=True)


class Asks:
    """A gate that sends `test__once` and questions to a person."""

    def evaluate(self, call):
        return Verdict("ask", "to be sure") if call.tool.name in ("once", "ask_user") else Verdict("allow")


def fresh(session):
    return Session.objects.select_related("workspace").get(pk=session.pk)


def raises(error):
    def act(_):
        raise error

    return act


def test_calls_side_by_side_run_without_the_sessions_connection(start, worker):
    session = start([{"calls": [call("safe"), call("safe2")]}, {"say": "ok"}])
    ours, held = connections["default"], []
    toolset.ACTS["safe"] = lambda _: held.append(ours.connection is not None) or "x"
    work(worker)
    assert held == [False] and state(session) == "completed"


def test_a_call_that_may_run_beside_others_may_also_wait(start, worker, alice_actor):
    session = start([{"calls": [call("safe"), call("safe2")]}, {"say": "ok"}])
    toolset.ACTS["safe"] = lambda _: YieldRequest("external", "external", {}, event_key="external:s:")
    work(worker)
    assert state(session) == "parked" and results(session)[1][1] == "succeeded"
    store.publish(session.workspace_id, "external:s:", "came", alice_actor)
    work(worker)
    assert state(session) == "completed" and [r for _, _, r in results(session)] == ["came", "safe2 ran"]


def test_a_lease_lost_in_one_of_several_keeps_the_results_of_the_others(start, worker):
    session = start([{"calls": [call("safe"), call("safe2")]}, {"say": "ok"}])
    toolset.ACTS["safe"] = raises(LeaseLost())
    work(worker)
    assert [s for _, s, _ in results(session)] == ["started", "succeeded"]


@pytest.mark.parametrize(
    "error",
    [SystemExit(3), asyncio.CancelledError(), ToolError("x" * 22_000_000)],
    ids=["it exits", "its task is cancelled", "its error is huge"],
)
def test_however_a_body_ends_its_result_says_so(start, worker, error):
    session = start([{"calls": [call("once")]}, {"say": "ok"}])
    toolset.ACTS["once"] = raises(error)
    work(worker)
    assert state(session) == "completed" and results(session)[0][1] == "failed"


def test_an_approval_outlives_a_crash_before_the_body_and_lets_it_run_once(
    start, worker, settings, alice_actor, monkeypatch
):
    settings.GATES = [f"{__name__}.Asks"]
    session = start([{"calls": [call("once")]}, {"say": "ok"}])
    work(worker)
    wait = the_wait(session)
    store.resolve(session.pk, wait.pk, "approved", {}, alice_actor)
    with monkeypatch.context() as patch:
        patch.setattr(dispatch.store, "start_calls", lambda *_: 1 / 0)
        claim = store.claim(worker.boot_id)
        assert claim is not None
        runner.drive(worker, claim)
    work(worker)
    assert state(session) == "completed" and len(toolset.RAN) == 1
    assert session.yields.count() == 1 and session.yields.get().taken_at is not None


def test_an_approved_question_is_asked_once(start, worker, settings, alice_actor):
    settings.GATES = [f"{__name__}.Asks"]
    session = start([{"calls": [ASK]}, {"say": "ok"}])
    work(worker)
    store.resolve(session.pk, the_wait(session).pk, "approved", {}, alice_actor)
    work(worker)
    wait = the_wait(session)
    assert (wait.kind, wait.phase) == ("ask_user", "body")
    store.resolve(session.pk, wait.pk, "answered", "yes", alice_actor)
    work(worker)
    assert state(session) == "completed" and session.yields.count() == 2
    journal(session)


def test_after_five_hopeless_turns_a_retry_asks_the_model_again(start, worker, alice_actor):
    session = start([{"calls": [{"tool": "nope", "arguments": {}}]}] * 5 + [{"say": "ok"}])
    work(worker)
    assert fresh(session).failure_code == "invalid_calls"
    retry_session(alice_actor, fresh(session))
    work(worker)
    assert state(session) == "completed"
