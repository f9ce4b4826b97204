"""Answering over HTTP: by id, by call, the only one; who was first; what is refused changes nothing."""

from datetime import timedelta

import pytest

from sessions.engine import sweep
from sessions.models import Yield
from tests.api.conftest import ASK, work
from tests.sessions.conftest import loads, results
from workspaces import clock

pytestmark = pytest.mark.django_db(transaction=True)

ASKS = [{"tool": "system__ask_user", "arguments": {"prompt": p}} for p in ("A?", "B?")]
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def respond(session):
    return f"/api/sessions/{session.pk}/ask_user/respond"


def test_with_several_open_an_answer_must_say_which(waiting, worker, operator):
    session = waiting([{"calls": ASKS}, {"say": "ok"}])
    ids = [w["id"] for w in operator.get(f"/api/sessions/{session.pk}/yields").ok()["items"]]
    for refused in (
        operator.post(respond(session), {"response": "?"}),
        operator.get(f"/api/sessions/{session.pk}/ask_user/pending"),
    ):
        assert refused.problem(409, "ambiguous_wait")["yields"] == ids
    assert [w["outcome"] for w in operator.get(f"/api/sessions/{session.pk}/yields").ok()["items"]] == [None, None]

    first = operator.post(respond(session), {"yield": ids[1], "response": "b", "by": "Alice"}).ok(202)
    assert first["state"] == "parked"
    assert operator.get(f"/api/sessions/{session.pk}/ask_user/pending").ok()["yield"] == ids[0]
    assert operator.post(respond(session), {"response": "a"}).ok(202)["state"] == "resumable"
    work(worker)
    assert [loads(text)["response"] for _, _, text in results(session)] == ["a", "b"]
    listed = operator.get(f"/api/sessions/{session.pk}/yields").ok()["items"]
    assert {w["id"]: w["payload"] for w in listed} == {ids[0]: "a", ids[1]: "b"}
    assert {w["id"]: w["outcome_by"].get("by") for w in listed} == {ids[0]: None, ids[1]: "Alice"}


def test_the_second_answer_is_told_who_was_first(waiting, operator, approver):
    session = waiting()
    wait = operator.get(f"/api/sessions/{session.pk}/ask_user/pending").ok()["yield"]
    operator.post(respond(session), {"yield": wait, "response": "first", "by": "Alice"}).ok(202)
    lost = approver.post(respond(session), {"yield": wait, "response": "second"}).problem(409, "already_answered")
    assert "Already answered by Alice at" in lost["detail"]
    assert (lost["outcome"], lost["by"]["by"], lost["delivered"]) == ("answered", "Alice", False)
    late = operator.get(f"/api/sessions/{session.pk}/journal").ok()["items"][-1]
    assert (late["kind"], late["data"]["payload"]) == ("wait.late", "second")
    assert approver.post(respond(session), {"response": "third"}).problem(409, "not_waiting")


@pytest.mark.parametrize("named", [True, False])
def test_an_answer_after_an_abandoned_wait_is_refused_as_expired(waiting, operator, named):
    session = waiting(suspension={"on_expiry": "abandon"})
    wait = operator.get(f"/api/sessions/{session.pk}/ask_user/pending").ok()["yield"]
    assert sweep.expire(clock.now() + timedelta(days=2))
    body = {"response": "late"} | ({"yield": wait} if named else {})
    operator.post(respond(session), body).problem(409, "suspension_expired")
    found = operator.get(f"/api/sessions/{session.pk}").ok()
    assert (found["state"], found["failure"]["code"]) == ("abandoned", "abandoned")


def test_an_answer_at_a_deadline_nobody_has_swept_yet_loses(waiting, operator):
    session = waiting()
    Yield.objects.filter(session=session).update(deadline_at=clock.db_now())
    lost = operator.post(respond(session), {"response": "late"}).problem(409, "already_answered")
    assert lost["outcome"] == "timed_out" and "was not delivered" in lost["detail"]
    assert operator.get(f"/api/sessions/{session.pk}").ok()["state"] == "resumable"


def test_an_answer_that_breaks_the_schema_changes_nothing(waiting, operator):
    ask = {"tool": "system__ask_user", "arguments": {"prompt": "How many?", "response_schema": SCHEMA}}
    session = waiting([{"calls": [ask]}, {"say": "ok"}])
    assert operator.get(f"/api/sessions/{session.pk}/ask_user/pending").ok()["response_schema"] == SCHEMA
    before = operator.get(f"/api/sessions/{session.pk}").ok()
    for wrong in ("7", {"n": "7"}, {}, None, [], {"n": 7.5}, True):
        operator.post(respond(session), {"response": wrong}).problem(422, "schema_violation")
    assert operator.get(f"/api/sessions/{session.pk}").ok() == before
    operator.post(respond(session), {"response": {"n": 7}}).ok(202)


@pytest.mark.parametrize("wrong", ["", "  \n", 7, None, {"answer": "x"}])
def test_without_a_schema_an_answer_is_text_that_is_not_empty(waiting, operator, wrong):
    session = waiting()
    operator.post(respond(session), {"response": wrong}).problem(422, "schema_violation")
    assert operator.get(f"/api/sessions/{session.pk}").ok()["state"] == "parked"


def test_questions_are_answered_together(waiting, worker, operator):
    questions = [{"question": "When?", "header": "Time"}, {"question": "Who?", "multi_select": True}]
    ask = {"tool": "system__ask_question", "arguments": {"questions": questions}}
    session = waiting([{"calls": [ask]}, {"say": "ok"}], suspension={"may_ask_questions": True})
    pending = operator.get(f"/api/sessions/{session.pk}/ask_user/pending").ok()
    assert (pending["kind"], pending["prompt"], pending["questions"]) == ("ask_question", None, questions)
    operator.post(respond(session), {"response": {"answers": {"What?": "x"}}}).problem(422, "schema_violation")
    answers = {"answers": {"Time": "now", "Who?": ["Bob", "Eve"]}}
    operator.post(respond(session), {"response": answers}).ok(202)
    work(worker)
    assert loads(results(session)[0][2]) == answers


def test_a_wait_of_another_session_is_a_missing_one(waiting, operator):
    one, two = waiting(), waiting()
    theirs = operator.get(f"/api/sessions/{two.pk}/ask_user/pending").ok()
    for name in ("yield", "tool_call_id"):
        operator.post(respond(one), {name: theirs[name], "response": "x"}).problem(404, "not_found")
    operator.post(f"/api/sessions/{one.pk}/yields/{theirs['yield']}/cancel").problem(404, "not_found")
    operator.post(f"/api/sessions/{one.pk}/yields/{theirs['yield']}/settle", {"outcome": "failed"}).problem(
        404, "not_found"
    )
    mine = operator.get(f"/api/sessions/{one.pk}/ask_user/pending").ok()
    both = {"yield": mine["yield"], "tool_call_id": theirs["tool_call_id"], "response": "x"}
    operator.post(respond(one), both).problem(422, "invalid")
    assert {w.outcome for w in Yield.objects.all()} == {None}


def test_a_cancelled_wait_tells_the_agent_by_whom_and_why(waiting, worker, operator):
    session = waiting()
    wait = operator.get(f"/api/sessions/{session.pk}/ask_user/pending").ok()["yield"]
    path = f"/api/sessions/{session.pk}/yields/{wait}/cancel"
    assert operator.post(path, {"reason": "not needed", "by": "Alice"}).ok(202)["outcome"] == "cancelled"
    assert "Already cancelled by Alice" in operator.post(path).problem(409, "already_answered")["detail"]
    work(worker)
    found = loads(results(session)[0][2])
    assert (found["cancelled"], found["reason"], found["by"]) == (True, "not needed", "Alice")


def test_an_open_question_of_another_kind_is_not_settled(waiting, operator):
    session = waiting()
    wait = operator.get(f"/api/sessions/{session.pk}/ask_user/pending").ok()["yield"]
    path = f"/api/sessions/{session.pk}/yields/{wait}/settle"
    operator.post(path, {"outcome": "succeeded"}).problem(422, "wrong_kind")


@pytest.fixture
def unknown(waiting):
    """A session whose call ended nobody knows how; its wait."""

    def make(gated=False):
        session = waiting([{"calls": [ASK]}, {"say": "ok"}])
        wait = Yield.objects.get(session=session)
        if gated:
            Yield.objects.create(
                session=session, workspace=session.workspace, frame=wait.frame, call=wait.call, phase="gate",
                kind="approval", reason="approval", event_key="x", opened_at=wait.opened_at, outcome="approved",
                outcome_at=wait.opened_at, taken_at=wait.opened_at,
            )  # fmt: skip
        Yield.objects.filter(pk=wait.pk).update(kind="unknown_outcome", phase="unknown", schema=None, shown="{}")
        return session, f"/api/sessions/{session.pk}/yields/{wait.pk}/settle"

    return make


def test_an_unknown_outcome_is_settled_once(unknown, operator):
    session, path = unknown()
    operator.post(respond(session), {"response": "x"}).problem(409, "not_waiting")
    operator.post(path, {"outcome": "maybe"}).problem(422, "invalid")
    operator.post(path, {}).problem(422, "invalid")
    status = operator.get(f"/api/sessions/{session.pk}/status").ok()["waiting"][0]
    assert "nobody knows how that ended" in status["why"] and status["needs"] == "operator"
    operator.post(path, {"outcome": "succeeded", "result": {"id": 7}, "by": "Alice"}).ok(202)
    operator.post(path, {"outcome": "failed"}).problem(409, "already_answered")
    wait = operator.get(f"/api/sessions/{session.pk}/yields").ok()["items"][0]
    assert wait["payload"] == {"outcome": "succeeded", "result": {"id": 7}, "reason": ""}


def test_a_gated_unknown_outcome_is_settled_by_an_approver_only(unknown, operator, approver):
    session, path = unknown(gated=True)
    assert operator.get(f"/api/sessions/{session.pk}/status").ok()["waiting"][0]["needs"] == "approver"
    operator.post(path, {"outcome": "failed"}).problem(403, "forbidden")
    approver.post(path, {"outcome": "failed"}).ok(202)


def test_waits_page_with_the_open_one_first(waiting, worker, operator):
    session = waiting([{"calls": [ASK]}] * 5)
    for n in range(4):
        operator.post(respond(session), {"response": f"answer {n}"}).ok(202)
        work(worker)
    path = f"/api/sessions/{session.pk}/yields?limit=3"
    first = operator.get(path).ok()
    assert [w["payload"] for w in first["items"]] == [None, "answer 3", "answer 2", "answer 1"]
    rest = operator.get(f"{path}&cursor={first['next_cursor']}").ok()
    assert [w["payload"] for w in rest["items"]] == ["answer 0"] and rest["next_cursor"] is None
