"""The product's main job over HTTP: a provider, an agent, a session that asks, is answered and goes on."""

from datetime import datetime

import pytest

from tests.api.conftest import ASK, SCRIPT, work
from workspaces.files import WorkspaceFiles

pytestmark = pytest.mark.django_db(transaction=True)

AGENT = {
    "slug": "chooser",
    "name": "Chooser",
    "model": "played:demo",
    "system_prompt": "You choose file names.",
    "tools": ["system", "workspace"],
    "suspension": {"question_expires_seconds": 600},
    "limits": {"model_calls": 10},
    "script": SCRIPT,
}


def test_the_script_of_the_product(admin, operator, viewer, worker):
    made = admin.post("/api/model-providers", {"slug": "played", "kind": "scripted"}).ok(201)
    assert (made["slug"], made["kind"], made["has_key"]) == ("played", "scripted", False)
    agent = admin.post("/api/agents", AGENT).ok(201)
    assert agent.keys() == {"id", "slug", "version", "number"}
    assert (agent["slug"], agent["number"], len(agent["version"])) == ("chooser", 1, 64)

    body = {"agent": "chooser", "input": "Decide and create the file.", "metadata": {"ticket": 7}, "by": "Alice"}
    started = operator.post("/api/sessions", body).ok(201)
    path = f"/api/sessions/{started['id']}"
    assert (started["state"], started["surface"], started["agent"], started["version"]) == (
        "queued", "workspace", "chooser", 1,
    )  # fmt: skip
    assert started["started_by"]["name"] == "operator" and started["started_by"]["by"] == "Alice"
    assert started["metadata"] == {"ticket": 7} and started["title"] == "Decide and create the file."
    assert operator.get(f"{path}/ask_user/pending").problem(404, "not_found")

    work(worker)
    session = viewer.get(path).ok()
    assert (session["state"], session["output"], session["failure"], session["attention"]) == (
        "parked", None, None, None,
    )  # fmt: skip
    (wait,) = session["waiting"]
    assert (wait["kind"], wait["reason"], wait["tool"], wait["prompt"]) == (
        "ask_user", "question", "system__ask_user", "Which name?",
    )  # fmt: skip
    assert wait["event_key"] == f"ask_user:{started['id']}:{wait['call_id']}"
    assert [wait[name] for name in ("node", "questions", "arguments", "event", "children", "wake_at")] == [None] * 6
    opened, deadline = (datetime.fromisoformat(wait[name]) for name in ("opened_at", "deadline_at"))
    assert (deadline - opened).total_seconds() == pytest.approx(600, abs=0.01)

    pending = viewer.get(f"{path}/ask_user/pending").ok()
    assert pending["yield"] == wait["id"] and pending["tool_call_id"] == wait["call_id"]
    assert (pending["prompt"], pending["questions"], pending["response_schema"]) == ("Which name?", None, None)
    assert pending["parked_at"] == wait["opened_at"] and pending["deadline_at"] == wait["deadline_at"]

    done = operator.post(f"{path}/ask_user/respond", {"tool_call_id": wait["call_id"], "response": "a.md"}).ok(202)
    assert (done["yield"], done["outcome"], done["state"]) == (wait["id"], "answered", "resumable")
    work(worker)

    session = viewer.get(path).ok()
    assert (session["state"], session["output"], session["waiting"]) == ("completed", "Done.", [])
    assert WorkspaceFiles("acme").read_text("chosen.md") == '{"response":"a.md"}'


def test_messages_have_the_numbers_of_their_results(waiting, worker, operator):
    asks = [{"tool": "system__ask_user", "arguments": {"prompt": p}} for p in ("A?", "B?")]
    session = waiting([{"say": "Two things.", "calls": asks}, {"say": "Thanks."}])
    path = f"/api/sessions/{session.pk}"
    items = operator.get(f"{path}/messages").ok()["items"]
    assert [(m["seq"], m["role"], m["text"]) for m in items] == [
        (1, "user", "Decide and create the file."),
        (2, "assistant", "Two things."),
    ]
    first, second = (call["id"] for call in items[1]["calls"])
    assert [call["arguments"] for call in items[1]["calls"]] == [{"prompt": "A?"}, {"prompt": "B?"}]
    operator.post(f"{path}/ask_user/respond", {"tool_call_id": second, "response": "b"}).ok(202)
    operator.post(f"{path}/ask_user/respond", {"response": "a"}).ok(202)
    work(worker)
    items = operator.get(f"{path}/messages").ok()["items"]
    assert [(m["seq"], m["role"], m["tool_call_id"]) for m in items[2:]] == [
        (3, "tool", first),
        (4, "tool", second),
        (5, "assistant", None),
    ]
    assert items[2]["text"] == '{"response":"a"}' and items[2]["status"] == "succeeded"


def test_pages_of_messages_join_without_a_gap_or_a_repeat(waiting, worker, operator):
    session = waiting([{"say": f"turn {n}", "calls": [{"tool": "system__get_datetime"}] * 2} for n in range(4)])
    whole = operator.get(f"/api/sessions/{session.pk}/messages").ok()["items"]
    assert [m["seq"] for m in whole] == list(range(1, 15))
    for limit in (1, 2, 3, 5):
        found, cursor = [], ""
        while cursor is not None:
            page = operator.get(f"/api/sessions/{session.pk}/messages?limit={limit}&cursor={cursor}").ok()
            assert sum(m["role"] != "tool" for m in page["items"]) <= limit
            found, cursor = found + page["items"], page["next_cursor"]
        assert found == whole
    for after in range(15):
        later = operator.get(f"/api/sessions/{session.pk}/messages?after={after}").ok()["items"]
        assert later == whole[after:]


def test_the_journal_goes_on_after_a_number(waiting, operator):
    session = waiting()
    path = f"/api/sessions/{session.pk}/journal"
    whole = operator.get(path).ok()["items"]
    assert [e["seq"] for e in whole] == list(range(1, len(whole) + 1))
    assert whole[0].keys() == {"seq", "kind", "at", "actor", "data"}
    assert [e["kind"] for e in whole][:2] == ["session.queued", "session.running"]
    assert operator.get(f"{path}?after=2").ok()["items"] == whole[2:]
    page = operator.get(f"{path}?limit=2").ok()
    assert page["items"] == whole[:2]
    assert operator.get(f"{path}?limit=2&cursor={page['next_cursor']}").ok()["items"] == whole[2:4]
    assert operator.get(f"{path}?after={whole[-1]['seq']}").ok() == {"items": [], "next_cursor": None}


def test_the_status_says_for_whom_until_when_and_what_then(waiting, viewer):
    session = waiting(suspension={"on_expiry": "abandon", "question_expires_seconds": 3600})
    status = viewer.get(f"/api/sessions/{session.pk}/status").ok()
    assert (status["state"], status["word"], status["needs_person"]) == ("parked", "Waiting", True)
    (wait,) = status["waiting"]
    assert wait["needs"] == "operator" and wait["who"] == "an operator of Acme"
    assert wait["why"] == "An operator of Acme has to answer a question."
    assert "abandoned" in wait["then"] and "refused" in wait["then"]
    assert wait["deadline_at"] == status["deadline_at"] and wait["on_expiry"] == "abandon"
    assert status["summary"] == "It waits for an answer; until then no worker is held."


def test_a_paused_session_keeps_its_wait_and_goes_on_when_resumed(waiting, worker, operator):
    session = waiting()
    path = f"/api/sessions/{session.pk}"
    assert operator.post(f"{path}/pause", {"by": "Alice"}).ok(202)["state"] == "paused"
    assert "paused" in operator.get(f"{path}/status").ok()["summary"]
    operator.post(f"{path}/ask_user/respond", {"response": "a.md"}).ok(202)
    work(worker)
    assert operator.get(path).ok()["state"] == "paused"
    operator.post(f"{path}/resume").ok(202)
    work(worker)
    assert operator.get(path).ok()["state"] == "completed"
    operator.post(f"{path}/resume").problem(409, "ended")
    operator.post(f"{path}/retry").problem(409, "wrong_state")


def test_a_cancelled_session_is_over_and_may_be_retried(waiting, worker, operator):
    session = waiting()
    path = f"/api/sessions/{session.pk}"
    ended = operator.post(f"{path}/cancel", {"reason": "changed my mind", "by": "Alice of support"}).ok(202)
    assert (ended["state"], ended["end_reason"], ended["waiting"]) == ("cancelled", "changed my mind", [])
    assert operator.post(f"{path}/cancel").problem(409, "ended")["state"] == "cancelled"
    operator.post(f"{path}/steer", {"text": "too late"}).problem(409, "ended")
    last = operator.get(f"{path}/journal").ok()["items"][-1]
    assert (last["kind"], last["actor"]["by"], last["actor"]["kind"]) == (
        "session.cancelled", "Alice of support", "token",
    )  # fmt: skip
    assert operator.post(f"{path}/retry").ok(202)["state"] == "resumable"
    work(worker)
    assert operator.get(path).ok()["state"] == "completed"


def test_a_message_is_read_by_the_next_turn_and_never_answers_the_question(waiting, worker, operator):
    session = waiting()
    path = f"/api/sessions/{session.pk}"
    operator.post(f"{path}/messages", {"text": "Make it short.", "by": "Alice"}).ok(202)
    operator.post(f"{path}/steer", {"text": "And lower case."}).ok(202)
    work(worker)
    assert operator.get(path).ok()["state"] == "parked"
    operator.post(f"{path}/ask_user/respond", {"response": "a.md"}).ok(202)
    work(worker)
    texts = [m["text"] for m in operator.get(f"{path}/messages").ok()["items"] if m["role"] == "user"]
    assert texts[1:] == ["Make it short.", "And lower case."]


def test_a_failed_session_says_why(start, worker, operator):
    session = start([{"calls": [ASK]}] * 2, limits={"model_calls": 0})
    work(worker)
    found = operator.get(f"/api/sessions/{session.pk}").ok()
    assert (found["state"], found["failure"]["code"]) == ("failed", "limit_model_calls")
    assert found["failure"]["message"] == found["end_reason"]


def test_workers_are_listed_with_what_waits_for_them(start, worker, stranger, viewer):
    start(SCRIPT)
    found = viewer.get("/api/workers").ok()
    (one,) = found["items"]
    assert one["alive"] is True and one["slots"] == 4 and found["queue_depth"] == 1
    assert stranger.get("/api/workers").ok()["queue_depth"] == 0
