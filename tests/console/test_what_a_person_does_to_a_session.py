"""Pause, resume, cancel, retry, a message, an unknown outcome, a kept result: by buttons, with and without a script."""

import pytest

from sessions.engine import store
from sessions.engine.process import Process
from sessions.models import Call, Session, Steer, Worker, Yield
from tests.console.conftest import HTMX, asking, get, page_of, text_of
from tests.sessions import toolset
from tests.sessions.conftest import call, results, state, the_wait, work

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_pause_and_resume(waiting, alice, browser_of, headers):
    session, client = waiting(), browser_of(alice)
    response = client.post(page_of(session, "pause/"), headers=headers)
    assert response.status_code == (200 if headers else 302) and state(session) == "paused"
    html = get(client, page_of(session))
    assert "Paused by alice" in html and "Waits stay open" in html and 'name="response"' in html
    response = client.post(page_of(session, "resume/"), headers=headers)
    assert response.status_code == (200 if headers else 302) and state(session) == "parked"
    assert "alice resumed it." in get(client, page_of(session))


def test_a_running_session_is_asked_to_pause_and_may_be_let_go_on(start, worker, alice, browser_of):
    seen = []

    def act(_):
        session = Session.objects.select_related("workspace").get()
        client = browser_of(alice)
        assert client.post(page_of(session, "pause/")).status_code == 302
        seen.append(get(client, page_of(session)))
        assert client.post(page_of(session, "resume/")).status_code == 302
        seen.append(get(client, page_of(session)))

    toolset.ACTS["once"] = act
    session = start([{"calls": [call("once")]}, {"say": "ok"}], tools=["test"])
    work(worker)
    assert state(session) == "completed"
    assert "asked it to pause at the next safe point" in seen[0] and "Go on without a pause" in seen[0]
    assert "Go on without a pause" not in seen[1] and "is working" in seen[1]


@pytest.mark.parametrize("on_expiry", ["continue", "abandon"])
@pytest.mark.parametrize("headers", [{}, HTMX])
def test_an_answer_after_the_deadline_is_handed_back(waiting, alice, browser_of, on_expiry, headers):
    session = waiting(suspension={"on_expiry": on_expiry})
    wait = the_wait(session)
    Yield.objects.filter(pk=wait.pk).update(deadline_at=wait.opened_at)
    path = page_of(session, f"yields/{wait.pk}/answer/")
    response = browser_of(alice).post(path, {"response": "my long text"}, headers=headers)
    html = text_of(response)
    assert response.status_code == 409 and "Arrived too late, not delivered." in html and "my long text" in html
    assert f'id="card-{wait.pk}"' not in html
    wait.refresh_from_db()
    assert wait.outcome == "timed_out" and state(session) == ("abandoned" if on_expiry == "abandon" else "resumable")


def test_cancel_ends_it_and_closes_its_cards(waiting, alice, browser_of):
    session, client = waiting(), browser_of(alice)
    response = client.post(page_of(session, "cancel/"), {"after": session.seq}, headers=HTMX)
    html = text_of(response)
    assert response.status_code == 200 and state(session) == "cancelled"
    assert "Cancelled by alice" in html and 'id="card-' not in html and "Retry" in html
    response = client.post(page_of(session, "cancel/"), {"after": session.seq}, headers=HTMX)
    assert response.status_code == 409 and "This session has ended: cancelled." in text_of(response)
    response = client.post(page_of(session, "cancel/"))
    assert response.status_code == 409 and "This session has ended: cancelled." in text_of(response)


def test_retry_lets_a_cancelled_session_go_on(waiting, worker, alice, browser_of):
    session, client = waiting(), browser_of(alice)
    client.post(page_of(session, "cancel/"))
    assert client.post(page_of(session, "retry/")).status_code == 302
    work(worker)
    assert state(session) == "completed"
    html = get(client, page_of(session))
    assert html.index("Cancelled by alice") < html.index("alice let it go on.") < html.rindex("Completed</span>")


def test_a_message_is_on_the_road_before_and_after_it_is_read(waiting, worker, alice, browser_of):
    session, client = waiting(), browser_of(alice)
    response = client.post(
        page_of(session, "steer/"), {"text": "Use **lower** case.", "after": session.seq}, headers=HTMX
    )
    assert response.status_code == 200 and "<strong>lower</strong>" in text_of(response)
    assert "read before the next turn" in text_of(response) and state(session) == "parked"
    client.post(page_of(session, f"yields/{the_wait(session).pk}/answer/"), {"response": "x"})
    work(worker)
    html = get(client, page_of(session))
    steer = Steer.objects.get(session=session)
    assert html.count("<strong>lower</strong>") == 1 and f'id="e-m{steer.pk}"' in html and "wrote while it ran" in html
    assert client.post(page_of(session, "steer/"), {"text": " "}).status_code == 422


def died(waiting, worker, script):
    """A session whose worker died in a body, driven on by another one until it asks."""

    class Died(BaseException):
        pass

    def act(_):
        raise Died

    toolset.ACTS["once"] = act
    with pytest.raises(Died):
        waiting(script, tools=["test"])
    del toolset.ACTS["once"]
    Worker.objects.filter(pk=worker.boot_id).update(alive_until="2000-01-01T00:00:00Z")
    heir = Process(1)
    heir.beat()
    for session, boot in store.stranded([worker.boot_id]):
        store.reclaim(session, boot)
    work(heir)
    return Session.objects.select_related("workspace").get(), heir


def test_an_unknown_outcome_is_settled_on_its_card(waiting, worker, alice, victor, browser_of):
    session, heir = died(waiting, worker, [{"calls": [call("once", id=9007199254740993, rate="1.10")]}, {"say": "ok"}])
    client, wait = browser_of(alice), the_wait(session)
    html = get(client, page_of(session))
    assert "How did this call end?" in html and "test__once" in html and "9007199254740993" in html
    assert "Waiting for the outcome of a call" in html.replace("</span>", "").replace("<span>", "")
    assert "has to settle it; your role only looks." in get(browser_of(victor), page_of(session))
    path = page_of(session, f"yields/{wait.pk}/settle/")
    response = client.post(path, {"result": "it was there", "reason": "I looked"}, headers=HTMX)
    assert response.status_code == 422 and "choose one of the three" in text_of(response)
    assert "it was there" in text_of(response) and "I looked" in text_of(response)
    response = client.post(page_of(session, f"yields/{wait.pk}/answer/"), {"response": "x"}, headers=HTMX)
    assert response.status_code == 422 and state(session) == "parked"
    data = {"outcome": "succeeded", "result": "it was there", "reason": "I looked"}
    assert client.post(path, data).status_code == 302
    work(heir)
    assert results(session)[0][1:] == ("succeeded", "it was there") and state(session) == "completed"
    assert "It was done." in get(client, page_of(session))
    response = client.post(path, data)
    assert response.status_code == 409 and "it was there" in text_of(response)


def test_the_whole_of_a_shortened_result_is_a_download(waiting, worker, alice, mallory, browser_of):
    toolset.ACTS["once"] = lambda _: "<script>alert(1)</script>" + "x" * 50_000
    session = waiting([{"calls": [call("once")]}, *asking()], tools=["test", "system"])
    found = Call.objects.filter(session=session).order_by("turn").first()
    client = browser_of(alice)
    path = page_of(session, f"calls/{found.pk}/result/")
    assert path in get(client, page_of(session)) and path in get(client, page_of(session, "?tab=calls"))
    response = client.get(path)
    assert response.status_code == 200 and len(response.content) == 50_025
    assert response["Content-Type"] == "application/octet-stream" and "attachment" in response["Content-Disposition"]
    assert response["X-Content-Type-Options"] == "nosniff" and "sandbox" in response["Content-Security-Policy"]
    assert browser_of(mallory).get(path).status_code == 404
    other = Call.objects.filter(session=session).order_by("turn").last()
    assert client.get(page_of(session, f"calls/{other.pk}/result/")).status_code == 404


def test_a_set_aside_session_says_why_and_is_retried(waiting, worker, alice, browser_of):
    session, client = waiting([{"calls": [call("wait", name="x")]}], tools=["test"]), browser_of(alice)
    assert "Waits for an event" in get(client, page_of(session))
    Session.objects.filter(pk=session.pk).update(
        attention={"code": "missing_tool", "message": "No <b>tool</b>.", "since": "2026-01-01T00:00:00+00:00"}
    )
    html = get(client, page_of(session))
    assert "A tool is missing" in html and "No &lt;b&gt;tool&lt;/b&gt;." in html and "Needs attention" in html
    assert "Needs attention" in get(client, "/w/acme/sessions/?needs_person=1")
    assert client.post(page_of(session, "retry/")).status_code == 302
    session.refresh_from_db()
    assert session.attention is None
