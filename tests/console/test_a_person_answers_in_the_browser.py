"""A question is answered in its place: by text, by the fields of its schema, by options and own words."""

import pytest

from sessions.models import Yield
from tests.console.conftest import HTMX, asking, get, page_of, text_of
from tests.sessions.conftest import journal, loads, results, state, the_wait, work

pytestmark = pytest.mark.django_db(transaction=True)

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "enum": ["a.md", "b.md"], "title": "File name"},
        "copies": {"type": "integer", "minimum": 1, "maximum": 5},
        "why": {"type": "string"},
        "now": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "rest": {"type": "object"},
    },
    "required": ["name", "copies"],
}


def url(session, wait, act="answer"):
    return page_of(session, f"yields/{wait.pk}/{act}/")


def test_the_page_shows_the_question_and_the_answer_lets_it_go_on(waiting, worker, alice, browser_of):
    session, client = waiting(), browser_of(alice)
    wait = the_wait(session)
    html = get(client, page_of(session))
    assert "Which name?" in html and 'name="response"' in html and "for an answer" in html
    assert "Parked" in html and "An operator of <b>Acme</b> has to answer." in html

    response = client.post(url(session, wait), {"response": "report.md"})
    assert response.status_code == 302 and response["Location"] == page_of(session)
    work(worker)
    html = get(client, page_of(session))
    assert "Answered by alice" in html and "report.md" in html and "Completed" in html


def test_htmx_gets_the_news_instead_of_a_page(waiting, alice, browser_of):
    session, client = waiting(), browser_of(alice)
    data = {"response": "report.md", "after": str(session.seq)}
    response = client.post(url(session, the_wait(session)), data, headers=HTMX)
    html = text_of(response)
    assert response.status_code == 200 and "<!doctype" not in html
    assert "Answered by alice" in html and "Resuming" in html and 'id="card-' not in html
    assert f'id="cursor" name="after" value="{session.seq + 2}"' in html


def test_an_empty_answer_changes_nothing_and_says_so_at_the_form(waiting, alice, browser_of):
    session, client = waiting(), browser_of(alice)
    wait = the_wait(session)
    response = client.post(url(session, wait), {"response": " "}, headers=HTMX)
    assert response.status_code == 422
    assert "Write an answer first." in text_of(response) and "data-fresh" in text_of(response)
    assert Yield.objects.get(pk=wait.pk).outcome is None


def test_the_fields_of_a_schema_become_its_answer(waiting, worker, alice, browser_of):
    session, client = waiting(asking(response_schema=SCHEMA)), browser_of(alice)
    wait = the_wait(session)
    html = get(client, page_of(session))
    assert "File name" in html and html.count('type="radio"') == 4 and html.count(" checked") == 1  # the keys' own
    names = {"name": "f1", "copies": "f0", "now": "f2", "rest": "f3", "tags": "f4", "why": "f5"}
    data = {
        names["name"]: "1",
        names["copies"]: "3",
        names["now"]: "true",
        names["tags"]: "x\r\n\r\ny ",
        names["rest"]: '{"a": 1.50}',
    }
    response = client.post(url(session, wait), data)
    assert response.status_code == 302, text_of(response)[:3000]
    work(worker)
    answer = {"name": "b.md", "copies": 3, "now": True, "tags": ["x", "y"], "rest": {"a": 1.5}}
    assert loads(results(session)[0][2]) == {"response": answer}


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_an_answer_that_breaks_the_schema_comes_back_as_typed_with_the_error_at_the_field(
    waiting, alice, browser_of, headers
):
    session, client = waiting(asking(response_schema=SCHEMA)), browser_of(alice)
    wait = the_wait(session)
    data = {"f1": "0", "f0": "9", "f5": "because of <b>this</b>"}
    response = client.post(url(session, wait), data, headers=headers)
    html = text_of(response)
    assert response.status_code == 422
    assert "Must be at most 5, not 9." in html and 'value="9"' in html and "because of &lt;b&gt;this&lt;/b&gt;" in html
    assert state(session) == "parked" and Yield.objects.get(pk=wait.pk).outcome is None
    response = client.post(url(session, wait), {"f1": "0", "f0": "many"}, headers=headers)
    assert "Write a whole number." in text_of(response) and response.status_code == 422
    response = client.post(url(session, wait), {"f0": "1"}, headers=headers)
    assert "Choose one." in text_of(response) and response.status_code == 422


QUESTIONS = [
    {
        "question": "When should it go out?",
        "header": "When",
        "options": [{"label": "Tonight", "description": "Few are online"}, {"label": "Tomorrow"}],
    },
    {"question": "Who is told?", "multi_select": True, "options": [{"label": "Support"}, {"label": "Sales"}]},
    {"question": "Anything else?"},
]


def test_options_and_own_words_both_count(waiting, worker, alice, browser_of):
    script = [{"calls": [{"tool": "system__ask_question", "arguments": {"questions": QUESTIONS}}]}]
    session, client = waiting(script, suspension={"may_ask_questions": True}), browser_of(alice)
    wait = the_wait(session)
    html = get(client, page_of(session))
    assert "When should it go out?" in html and "Few are online" in html and "None of these" in html
    part = {"q0": "0", "q0-words": "after 22:00", "q1": ["0", "1"], "q2-words": ""}
    response = client.post(url(session, wait), part)
    assert (
        response.status_code == 422 and "Write an answer." in text_of(response) and "after 22:00" in text_of(response)
    )
    response = client.post(url(session, wait), part | {"q1-words": "Ada", "q2-words": "no"})
    assert response.status_code == 302
    work(worker)
    assert loads(results(session)[0][2]) == {
        "answers": {"When": "Tonight\nafter 22:00", "Who is told?": ["Support", "Sales", "Ada"], "Anything else?": "no"}
    }


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_the_second_answer_is_handed_back_and_says_who_was_first(waiting, alice, bob, browser_of, headers):
    session = waiting()
    wait = the_wait(session)
    assert browser_of(bob).post(url(session, wait), {"response": "first"}).status_code == 302
    response = browser_of(alice).post(url(session, wait), {"response": "my <i>long</i> text"}, headers=headers)
    html = text_of(response)
    assert response.status_code == 409
    assert "Arrived too late, not delivered." in html and "Already answered by bob" in html
    assert "my &lt;i&gt;long&lt;/i&gt; text" in html
    assert f'id="card-{wait.pk}"' not in html
    assert "wait.late" in journal(session)


def test_a_half_typed_answer_never_goes_to_another_question(waiting, alice, browser_of):
    ask = {"tool": "system__ask_user", "arguments": {"prompt": "First?"}}
    again = {"tool": "system__ask_user", "arguments": {"prompt": "Second?"}}
    session, client = waiting([{"calls": [ask, again]}]), browser_of(alice)
    first, second = Yield.objects.filter(session=session).order_by("pk")
    client.post(url(session, first), {"response": "one"})
    response = client.post(url(session, first), {"response": "meant for the first"})
    assert response.status_code == 409
    second.refresh_from_db()
    assert second.outcome is None


def test_a_question_is_skipped_with_a_reason_the_agent_reads(waiting, worker, alice, browser_of):
    session, client = waiting(), browser_of(alice)
    response = client.post(url(session, the_wait(session), "cancel"), {"reason": "not needed", "response": "x"})
    assert response.status_code == 302
    work(worker)
    result = loads(results(session)[0][2])
    assert result["cancelled"] is True and result["reason"] == "not needed" and result["by"] == "alice"
    assert "Wait cancelled by alice" in get(client, page_of(session))


def test_an_answer_to_another_sessions_wait_is_not_found(waiting, alice, browser_of):
    one, other = waiting(), waiting()
    response = browser_of(alice).post(url(one, the_wait(other)), {"response": "x"})
    assert response.status_code == 404 and state(other) == "parked"
