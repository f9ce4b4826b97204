"""What people do to a session's course, and what is never thrown away."""

import pytest

from sessions.engine import store
from sessions.errors import Ended, WrongState
from sessions.models import ParkedState, Session
from sessions.operations.answers import answer
from sessions.operations.sessions import (
    cancel_session,
    pause_session,
    resume_session,
    retry_session,
    steer_session,
)
from tests.sessions import toolset
from tests.sessions.conftest import ASK, call, journal, results, state, the_wait, work

pytestmark = pytest.mark.django_db(transaction=True)


def fresh(session):
    return Session.objects.select_related("workspace").get(pk=session.pk)


def test_a_queued_session_that_is_paused_is_not_claimed_until_it_is_resumed(start, worker, alice_actor):
    session = start([{"say": "hi"}])
    pause_session(alice_actor, session)
    assert work(worker) == 0 and state(session) == "paused"
    resume_session(alice_actor, session)
    assert state(session) == "queued"
    work(worker)
    assert state(session) == "completed"


def test_an_answer_during_the_pause_is_kept_and_the_session_goes_on_after_it(start, worker, alice_actor):
    session = start([{"calls": [ASK]}, {"say": "{{ result }}"}])
    work(worker)
    pause_session(alice_actor, session)
    answer(alice_actor, session, "yes")
    assert state(session) == "paused" and work(worker) == 0
    resume_session(alice_actor, session)
    assert state(session) == "resumable"
    work(worker)
    assert results(session)[0][2] == '{"response":"yes"}'


def test_a_pause_without_an_answer_leads_back_to_waiting(start, worker, alice_actor):
    session = start([{"calls": [ASK]}, {"say": "ok"}])
    work(worker)
    pause_session(alice_actor, session)
    resume_session(alice_actor, session)
    assert state(session) == "parked" and ParkedState.objects.filter(session=session).exists()
    answer(alice_actor, session, "yes")
    work(worker)
    assert state(session) == "completed"


def test_a_pause_of_a_running_session_takes_effect_before_the_next_body(start, worker, alice_actor):
    session = start([{"calls": [call("once"), call("again")]}, {"say": "ok"}])
    toolset.ACTS["once"] = lambda _: pause_session(alice_actor, session) or "done"
    work(worker)
    assert state(session) == "paused"
    assert [name for name, _ in toolset.RAN] == ["once"]
    assert [s for _, s, _ in results(session)] == ["succeeded", "pending"]
    resume_session(alice_actor, session)
    work(worker)
    assert state(session) == "completed" and [name for name, _ in toolset.RAN] == ["once", "again"]
    journal(session)


def test_what_has_ended_is_neither_paused_nor_steered(start, worker, alice_actor):
    session = start([{"say": "ok"}])
    work(worker)
    for act in (
        lambda: pause_session(alice_actor, session),
        lambda: resume_session(alice_actor, session),
        lambda: steer_session(alice_actor, session, "more"),
    ):
        with pytest.raises(Ended, match="completed"):
            act()
    with pytest.raises(WrongState):
        retry_session(alice_actor, fresh(session))


def test_a_message_is_read_at_the_next_turn_and_never_answers_the_question(start, worker, alice_actor):
    session = start([{"calls": [ASK]}, {"say": "first"}])
    work(worker)
    steer_session(alice_actor, session, "By the way, hurry.")
    assert state(session) == "parked" and the_wait(session)
    answer(alice_actor, session, "yes")
    work(worker)
    assert [m.role for m in session.messages.order_by("n")] == ["user", "assistant", "user", "assistant"]
    assert "message.taken" in journal(session)


def test_a_message_that_comes_while_the_last_reply_is_made_becomes_the_next_turn(start, worker, alice_actor):
    session = start([{"calls": [call("once")]}, {"say": "first"}, {"say": "second"}])
    toolset.ACTS["once"] = lambda _: steer_session(alice_actor, session, "one more thing") or "x"
    work(worker)
    assert state(session) == "completed"
    texts = [m.body for m in session.messages.order_by("n")]
    assert "one more thing" in texts[2]


def test_a_cancelled_session_is_retried_in_place_with_its_results_kept(start, worker, alice_actor):
    session = start([{"calls": [call("once"), ASK]}, {"say": "after: {{ result }}"}])
    work(worker)
    cancel_session(alice_actor, session, "oops")
    retry_session(alice_actor, fresh(session))
    work(worker)
    assert state(session) == "completed"
    assert len(toolset.RAN) == 1
    assert [s for _, s, _ in results(session)] == ["succeeded", "cancelled"]
    assert session.yields.filter(outcome="cancelled").count() == 1


def test_a_parked_state_this_release_cannot_read_is_kept_and_waits_for_attention(start, worker, alice_actor):
    session = start([{"calls": [ASK]}, {"say": "ok"}])
    work(worker)
    ParkedState.objects.filter(session=session).update(schema_version=99)
    answer(alice_actor, session, "yes")
    assert work(worker) == 0
    row = fresh(session)
    assert (row.state, row.attention["code"]) == ("parked", "unreadable_state")
    assert ParkedState.objects.get(session=session).schema_version == 99
    assert work(worker) == 0
    ParkedState.objects.filter(session=session).update(schema_version=1)
    retry_session(alice_actor, row)
    work(worker)
    assert state(session) == "completed"
    journal(session)


def test_a_waiting_call_whose_tool_is_gone_waits_for_attention_and_goes_on_when_it_is_back(
    start, worker, alice_actor, settings
):
    session = start([{"calls": [call("wait", name="x")]}, {"say": "ok"}])
    work(worker)
    store.publish(session.workspace_id, "external:x:", {"n": 1}, alice_actor)
    all_of_them = settings.TOOLSETS
    settings.TOOLSETS = {k: v for k, v in all_of_them.items() if k != "test"}
    work(worker)
    row = fresh(session)
    assert (row.state, row.attention["code"]) == ("parked", "missing_tool")
    settings.TOOLSETS = all_of_them
    retry_session(alice_actor, row)
    work(worker)
    assert state(session) == "completed" and results(session)[0][2] == '{"n":1}'


def test_a_worker_that_stops_gives_its_session_back_at_the_next_safe_point(start, worker):
    session = start([{"calls": [call("once"), call("again")]}, {"say": "ok"}])
    toolset.ACTS["once"] = lambda _: worker.stopping.set() or "x"
    work(worker)
    row = fresh(session)
    assert (row.state, row.attempts) == ("resumable", 0)
    worker.stopping.clear()
    work(worker)
    assert state(session) == "completed" and [n for n, _ in toolset.RAN] == ["once", "again"]
