"""The conversation and the journal as lists: stretches from either end, what is queued, numbers that wait."""

import pytest

from sessions.models import Session
from sessions.operations.sessions import steer_session
from sessions.queries.conversation import conversation, journal_after, journal_before, queued_messages
from sessions.queries.documents import calls_of
from sessions.queries.waits import all_waits, closed_waits, open_waits
from tests.api.conftest import ASK, work, write
from workspaces.actors import SYSTEM

pytestmark = pytest.mark.django_db(transaction=True)

TURNS = [{"say": f"turn {n}", "calls": [{"tool": "system__get_datetime"}]} for n in range(5)]


def seqs(items):
    return [item.seq for item in items]


def test_stretches_from_either_end_join(waiting):
    session = waiting(TURNS)
    whole = conversation(session)
    assert seqs(whole) == list(range(1, len(whole) + 1))
    newest = conversation(session, limit=2, newest=True)
    assert next(item.text for item in newest if item.role == "assistant") == "turn 4"
    assert newest == whole[-len(newest) :]
    earlier = conversation(session, before=newest[0].seq, limit=2, newest=True)
    assert earlier == whole[-len(newest) - len(earlier) : -len(newest)]
    assert conversation(session, after=newest[-1].seq) == []
    assert conversation(session, limit=1) == whole[:1]


def test_a_number_without_a_result_comes_later(waiting, worker, operator):
    session = waiting([{"say": "Both.", "calls": [ASK, write("b.md", "x")]}, {"say": "Done."}])
    seen = conversation(session)
    assert seqs(seen) == [1, 2]
    assert [call["status"] for call in seen[1].calls] == ["waiting", "pending"]
    operator.post(f"/api/sessions/{session.pk}/ask_user/respond", {"response": "a.md"}).ok(202)
    work(worker)
    assert seqs(conversation(session, after=2)) == [3, 4, 5]
    assert seqs(conversation(session, after=3)) == [4, 5]
    calls = calls_of(session)
    assert [(call["tool"], call["status"]) for call in calls] == [
        ("system__ask_user", "succeeded"),
        ("workspace__write_file", "succeeded"),
    ]
    assert calls[1]["arguments"] == {"path": "b.md", "content": "x"} and calls[0]["result"] == '{"response":"a.md"}'


def test_what_waits_for_the_next_turn_is_listed_until_it_is_read(waiting, worker, operator):
    session = waiting([{"calls": [ASK]}, {"say": "Done."}])
    for text in ("one", "two"):
        steer_session(SYSTEM, session, text)
    assert [(m.text, m.by["kind"]) for m in queued_messages(session)] == [("one", "system"), ("two", "system")]
    operator.post(f"/api/sessions/{session.pk}/ask_user/respond", {"response": "a.md"}).ok(202)
    work(worker)
    assert queued_messages(session) == []


def test_the_journal_is_read_from_either_end(waiting):
    session = waiting(TURNS)
    whole = journal_after(session.pk)
    assert seqs(journal_before(session.pk, limit=3)) == seqs(whole[-3:])
    assert journal_before(session.pk, before=whole[-3].seq, limit=2) == whole[-5:-3]
    assert journal_after(session.pk, after=whole[3].seq, limit=2) == whole[4:6]


def test_waits_open_and_closed(waiting, worker, operator):
    session = waiting([{"calls": [ASK]}, {"calls": [ASK]}])
    operator.post(f"/api/sessions/{session.pk}/ask_user/respond", {"response": "a.md"}).ok(202)
    work(worker)
    session = Session.objects.get(pk=session.pk)
    (closed,), (opened,) = closed_waits(session), open_waits(session)
    assert (closed["payload"], closed["outcome"]) == ("a.md", "answered") and opened["outcome"] is None
    assert all_waits(session) == [closed, opened]
