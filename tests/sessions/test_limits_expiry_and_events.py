"""Limits end a session with a code that says which; deadlines are settled by the sweep; events find their waits."""

import sys
from datetime import timedelta

import pytest

from sessions.engine import store, sweep
from sessions.errors import AlreadyAnswered, SuspensionExpired
from sessions.models import Blob, Event, Session
from sessions.operations.answers import answer
from tests.sessions import toolset
from tests.sessions.conftest import ASK, call, in_thread, journal, loads, results, state, the_wait, work
from workspaces import clock
from workspaces.actors import SYSTEM

pytestmark = pytest.mark.django_db(transaction=True)


def failure(session):
    row = Session.objects.select_related("text").get(pk=session.pk)
    return row.state, row.failure_code, row.text.failure_message


def test_too_many_model_calls_end_it(start, worker):
    session = start([{"calls": [call("once")]}] * 9, limits={"model_calls": 3})
    work(worker)
    found = failure(session)
    assert found[:2] == ("failed", "limit_model_calls") and "model_calls" in found[2]
    assert len(toolset.RAN) == 3


def test_an_answer_starts_the_count_of_model_calls_anew(start, worker, alice_actor):
    session = start([{"calls": [ASK]}] * 5 + [{"say": "ok"}], limits={"model_calls": 2})
    for _ in range(5):
        work(worker)
        answer(alice_actor, session, "go on")
    work(worker)
    assert state(session) == "completed"


def test_too_many_calls_in_one_turn_end_it_before_any_runs(start, worker):
    session = start([{"calls": [call("once")] * 4}], limits={"tool_calls_per_turn": 3})
    work(worker)
    assert failure(session)[:2] == ("failed", "limit_tool_calls_per_turn")
    assert toolset.RAN == [] and {s for _, s, _ in results(session)} == {"cancelled"}
    journal(session)


def test_a_session_past_its_own_deadline_fails_even_while_it_waits(start, worker):
    session = start([{"calls": [ASK]}], limits={"deadline_seconds": 60})
    work(worker)
    assert sweep.overdue() == 0
    sweep.overdue(now=clock.db_now() + timedelta(seconds=61))
    assert failure(session)[:2] == ("failed", "limit_deadline_seconds")


def test_running_time_is_limited_and_waiting_does_not_count(start, worker):
    session = start([{"calls": [ASK]}, {"say": "ok"}], limits={"running_seconds": 0.000001})
    work(worker)
    assert failure(session)[:2] == ("failed", "limit_running_seconds")


def test_a_large_result_is_shortened_for_the_model_and_kept_whole(start, worker):
    session = start([{"calls": [call("once")]}, {"say": "ok"}], limits={"result_bytes": 1000})
    toolset.ACTS["once"] = lambda _: "é" * 5000
    work(worker)
    text = str(results(session)[0][2])
    assert len(text.encode()) <= 1000 and "shortened: 10000 bytes" in text
    assert bytes(Blob.objects.get().bytes).decode() == "é" * 5000


def test_text_that_cannot_be_stored_is_replaced_and_the_session_lives(start, worker):
    session = start([{"calls": [call("once"), call("again")]}, {"say": "ok"}])
    toolset.ACTS["once"] = lambda _: {"a\x00b": "\ud83d", "n": float("nan"), "i": 10**5000}
    toolset.ACTS["again"] = lambda _: 1 / 0
    work(worker)
    assert state(session) == "completed"
    first, second = results(session)
    assert "\ufffd" in str(first[2]) and first[1] == "succeeded"
    assert second[1] == "failed" and "ZeroDivisionError" in str(second[2])


def test_a_question_nobody_answers_times_out_and_the_agent_goes_on(start, worker, alice_actor):
    session = start([{"calls": [ASK]}, {"say": "{{ result }}"}])
    work(worker)
    wait = the_wait(session)
    assert wait.deadline_at - wait.opened_at == timedelta(hours=24)
    assert sweep.expire() == 0
    late = wait.deadline_at + timedelta(milliseconds=1)
    assert sweep.expire(now=late) == 1
    assert state(session) == "resumable"
    work(worker)
    _tool, status, text = results(session)[0]
    assert status == "timed_out" and loads(text)["timed_out"] is True
    with pytest.raises(AlreadyAnswered, match="too late"):
        answer(alice_actor, session, "a long reply", wait=str(wait.pk))
    assert "wait.late" in journal(session)


def test_a_tools_own_timeout_beats_the_policy(start, worker):
    ask = {"tool": "system__ask_user", "arguments": {"prompt": "?", "timeout_seconds": 5}}
    session = start([{"calls": [ask]}, {"say": "ok"}])
    work(worker)
    wait = the_wait(session)
    assert wait.deadline_at - wait.opened_at == timedelta(seconds=5)


def test_with_abandon_the_session_is_settled_at_the_deadline_and_a_late_answer_refused(start, worker, alice_actor):
    session = start([{"calls": [ASK, call("once")]}], suspension={"on_expiry": "abandon"})
    work(worker)
    wait = the_wait(session)
    sweep.expire(now=wait.deadline_at)
    assert state(session) == "abandoned"
    assert [s for _, s, _ in results(session)] == ["cancelled", "cancelled"]
    with pytest.raises(SuspensionExpired):
        answer(alice_actor, session, "late", wait=str(wait.pk))
    assert work(worker) == 0 and toolset.RAN == []


def test_an_answer_past_the_deadline_loses_though_no_sweep_has_come(start, worker, alice_actor):
    session = start([{"calls": [ASK]}, {"say": "ok"}])
    work(worker)
    wait = the_wait(session)
    done = store.resolve(session.pk, wait.pk, "answered", "late", alice_actor, now=wait.deadline_at)
    assert not done.won and done.outcome == "timed_out"
    assert state(session) == "resumable"
    assert "late" in session.journal.get(kind="wait.late").data


def test_an_event_wakes_every_wait_on_its_key_and_only_in_its_workspace(start, worker, other):
    sessions = [start([{"calls": [call("wait", name="paid")]}, {"say": "ok"}]) for _ in range(3)]
    work(worker)
    assert store.publish(other.pk, "external:paid:", 1, SYSTEM).fate == "nobody_waiting"
    done = store.publish(sessions[0].workspace_id, "external:paid:", {"sum": 12}, SYSTEM)
    assert (done.fate, done.woken) == ("matched", 3)
    work(worker)
    assert {state(s) for s in sessions} == {"completed"}
    assert results(sessions[1])[0][2] == '{"sum":12}'


def test_an_event_that_came_while_the_call_was_made_is_taken_at_the_park(start, worker):
    session = start([{"calls": [call("wait", name="fast")]}, {"say": "ok"}])
    toolset.ACTS["external"] = lambda _: in_thread(
        lambda: store.publish(session.workspace_id, "external:fast:", "now", SYSTEM)
    ).result(10)
    work(worker)
    assert state(session) == "completed" and results(session)[0][2] == "now"
    event = Event.objects.get()
    assert (event.fate, event.woken) == ("early", 1)


def test_an_event_whose_publisher_died_is_matched_by_the_sweep(start, worker):
    session = start([{"calls": [call("wait", name="x")]}, {"say": "ok"}])
    work(worker)
    event = Event.objects.create(
        workspace_id=session.workspace_id,
        event_key="external:x:",
        payload="5",
        source=SYSTEM.as_json(),
        created_at=clock.db_now() - timedelta(seconds=10),
    )
    before = clock.db_now() - timedelta(seconds=60)
    session.yields.update(since=before, opened_at=before)
    assert sweep.unmatched() == 1
    event.refresh_from_db()
    assert (event.fate, state(session)) == ("matched", "resumable")


def test_the_same_idempotency_key_publishes_once(start, worker, acme):
    first = store.publish(acme.pk, "external:k:", 1, SYSTEM, idempotency_key="a")
    again = store.publish(acme.pk, "external:k:", 1, SYSTEM, idempotency_key="a")
    assert again.event == first.event and again.fate == "duplicate"


def test_calls_that_are_all_safe_run_side_by_side_and_their_results_stay_in_order(start, worker):
    import threading

    meet = threading.Barrier(2)
    for name in ("safe", "safe2"):
        toolset.ACTS[name] = lambda _, n=name: (meet.wait(10), n)[1]
    session = start([{"calls": [call("safe"), call("safe2")]}, {"say": "ok"}])
    work(worker)
    assert results(session) == [("test__safe", "succeeded", "safe"), ("test__safe2", "succeeded", "safe2")]


def test_calls_that_cannot_run_get_error_results_and_the_others_run(start, worker):
    bad = {"tool": "system__ask_user", "arguments": {"prompt": ""}}
    session = start([{"calls": [{"tool": "nope", "arguments": {}}, bad, call("once")]}, {"say": "ok"}])
    work(worker)
    assert [s for _, s, _ in results(session)] == ["failed", "failed", "succeeded"]
    assert "test__once" in str(results(session)[0][2])
    assert state(session) == "completed" and session.yields.count() == 0


def test_five_hopeless_turns_end_it(start, worker):
    session = start([{"calls": [{"tool": "nope", "arguments": {}}]}] * 9)
    work(worker)
    assert failure(session)[:2] == ("failed", "invalid_calls")


def test_with_abandon_only_the_wait_that_ran_out_is_called_timed_out(start, worker, alice_actor):
    soon = {"tool": "system__ask_user", "arguments": {"prompt": "?", "timeout_seconds": 5}}
    session = start([{"calls": [soon, ASK]}], suspension={"on_expiry": "abandon"})
    work(worker)
    sweep.expire(now=clock.db_now() + timedelta(seconds=6))
    waits = list(session.yields.order_by("deadline_at"))
    assert [(w.outcome, w.outcome_by["kind"]) for w in waits] == [("timed_out", "system"), ("cancelled", "system")]
    for wait in waits:
        with pytest.raises(SuspensionExpired):
            answer(alice_actor, session, "late", wait=str(wait.pk))
    assert journal(session).count("wait.closed") == 2


def test_an_event_key_too_long_for_a_row_is_shortened_alike_on_both_sides(start, worker):
    session = start([{"calls": [call("wait", name="n" * 300)]}, {"say": "ok"}])
    work(worker)
    assert store.publish(session.workspace_id, f"external:{'n' * 300}:", 1, SYSTEM).woken == 1


def test_matching_ends_though_a_wait_stays_open(start, worker, monkeypatch):
    session = start([{"calls": [call("wait", name="x")]}, {"say": "ok"}])
    work(worker)
    looked = []
    monkeypatch.setattr(sys.modules["sessions.engine.store.publish"], "resolve", lambda *args, **_: looked.append(args))
    assert store.publish(session.workspace_id, "external:x:", 1, SYSTEM).fate == "nobody_waiting"
    assert len(looked) == 1
