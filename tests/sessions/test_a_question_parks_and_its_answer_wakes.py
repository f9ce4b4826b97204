"""A session that asks is rows until somebody answers, and then goes on exactly where it stopped."""

import pytest

from sessions.errors import AlreadyAnswered, Ended
from sessions.models import ParkedState, Session
from sessions.operations.answers import answer, cancel_wait
from sessions.operations.sessions import cancel_session
from tests.sessions.conftest import ASK, journal, loads, results, state, the_wait, work, write
from workspaces.files import WorkspaceFiles

pytestmark = pytest.mark.django_db(transaction=True)

SCRIPT = [{"say": "A matter of taste.", "calls": [ASK]}, {"calls": [write()]}, {"say": "Done."}]


def test_it_asks_parks_is_answered_and_completes(start, worker, alice_actor):
    session = start(SCRIPT)
    assert state(session) == "queued"
    work(worker)
    assert state(session) == "parked"
    row = Session.objects.get(pk=session.pk)
    assert row.worker is None and ParkedState.objects.filter(session=session).exists()

    answer(alice_actor, row, "report.md")
    assert state(session) == "resumable"
    work(worker)

    assert state(session) == "completed"
    assert not ParkedState.objects.filter(session=session).exists()
    assert WorkspaceFiles("acme").read_text("chosen.md") == '{"response":"report.md"}'
    row = Session.objects.select_related("text").get(pk=session.pk)
    assert row.text.output == "Done."
    assert journal(session) == [
        "session.queued",
        "session.running",
        "model.replied",
        "wait.opened",
        "session.parked",
        "wait.closed",
        "session.resumable",
        "session.running",
        "call.succeeded",
        "model.replied",
        "call.started",
        "call.succeeded",
        "model.replied",
        "session.completed",
    ]


def test_a_second_answer_is_told_who_was_first_and_kept_as_a_note(start, worker, alice_actor, bob_actor):
    session = start(SCRIPT)
    work(worker)
    wait = the_wait(session)
    answer(alice_actor, session, "first.md", wait=str(wait.pk))
    with pytest.raises(AlreadyAnswered, match="Already answered by alice"):
        answer(bob_actor, session, "second.md", wait=str(wait.pk))
    work(worker)
    assert loads(results(session)[0][2]) == {"response": "first.md"}
    assert "wait.late" in journal(session)


def test_a_cancelled_wait_tells_the_agent_by_whom_and_the_turn_goes_on(start, worker, alice_actor):
    session = start(SCRIPT)
    work(worker)
    cancel_wait(alice_actor, session, str(the_wait(session).pk), "not needed")
    work(worker)
    tool, status, result = results(session)[0]
    found = loads(result)
    assert (tool, status) == ("system__ask_user", "cancelled")
    assert found.pop("elapsed_seconds") >= 0
    assert found == {"cancelled": True, "reason": "not needed", "by": "alice"}
    assert state(session) == "completed"


def test_a_cancelled_session_settles_every_open_call_and_takes_no_answer(start, worker, alice_actor):
    session = start([{"calls": [ASK, write("behind.md", "x")]}])
    work(worker)
    wait = the_wait(session)
    cancel_session(alice_actor, session, "changed my mind")
    assert state(session) == "cancelled"
    assert [status for _, status, _ in results(session)] == ["cancelled", "cancelled"]
    assert "did not run" in str(results(session)[1][2])
    with pytest.raises(AlreadyAnswered, match="cancelled by alice"):
        answer(alice_actor, session, "late", wait=str(wait.pk))
    with pytest.raises(Ended):
        cancel_session(alice_actor, session)
    assert work(worker) == 0


def test_several_questions_of_one_turn_wait_together_and_answers_reach_their_own_call(start, worker, alice_actor):
    asks = [{"tool": "system__ask_user", "arguments": {"prompt": p}} for p in ("A?", "B?", "C?")]
    session = start([{"calls": asks}, {"say": "ok"}])
    work(worker)
    waits = {loads(w.shown)["prompt"]: w for w in session.yields.all()}
    for prompt in ("C?", "A?"):
        answer(alice_actor, session, prompt.lower(), wait=str(waits[prompt].pk))
        assert state(session) == "parked"
        assert work(worker) == 0
    answer(alice_actor, session, "b?", wait=str(waits["B?"].pk))
    work(worker)
    assert [loads(r)["response"] for _, _, r in results(session)] == ["a?", "b?", "c?"]
    assert state(session) == "completed"
