"""The list and the page of a session take a constant number of statements, and bounded pages."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions.models import Session
from sessions.operations.answers import answer
from tests.console.conftest import asking, get, page_of
from tests.sessions.conftest import call, the_wait, work

pytestmark = pytest.mark.django_db(transaction=True)


def statements(client, path) -> int:
    with CaptureQueriesContext(
        connection,
    ) as found:
        get(client, path)
    return len(found)


def test_the_list(waiting, alice, browser_of, django_assert_max_num_queries):
    client = browser_of(alice)
    waiting()
    few = statements(client, "/w/acme/sessions/")
    for _ in range(6):
        waiting()
    assert statements(client, "/w/acme/sessions/") == few
    with django_assert_max_num_queries(16):
        client.get("/w/acme/sessions/")


def test_the_page_of_a_session_and_its_news(
    waiting, worker, alice, alice_actor, browser_of, django_assert_max_num_queries
):
    client = browser_of(alice)
    ask = asking()[0]
    short = waiting([ask, {"say": "ok"}])
    long = waiting([*[{"say": "x", "calls": [call("once"), call("again")]}, ask] * 8, {"say": "ok"}])
    for _ in range(6):
        answer(alice_actor, long, "x", wait=str(the_wait(long).pk))
        work(worker)
        long.refresh_from_db()
    answer(alice_actor, short, "x")
    work(worker)
    ended = waiting([ask, {"say": "ok"}])
    answer(alice_actor, ended, "y")
    for tab, most in (("", 24), ("?tab=timeline", 19), ("?tab=calls", 19), ("live/?after=0", 22)):
        with django_assert_max_num_queries(most):
            get(client, page_of(long, tab))
        assert abs(statements(client, page_of(long, tab)) - statements(client, page_of(ended, tab))) <= 3, tab


def test_a_long_history_is_shown_in_parts_and_the_news_in_batches(waiting, worker, alice, browser_of, monkeypatch):
    session = waiting([*[{"say": f"say {n}", "calls": [call("once", n=n)]} for n in range(40)], *asking()])
    client = browser_of(alice)
    monkeypatch.setattr("sessions.views.page.WINDOW", 60)
    monkeypatch.setattr("sessions.views.page.BATCH", 50)
    html = get(client, page_of(session))
    assert "Show what was before" in html and "say 39" in html and "<p>say 0</p>" not in html and "e-start" not in html
    assert "say 38" in html and "say 5<" not in html
    seen = html
    while "before=" in html:
        html = get(client, page_of(session, "?tab=transcript&before=" + html.split("before=")[1].split('"')[0]))
        assert "ws-connect" not in html and "Which name?" in html
        seen += html
    assert all(f"<p>say {n}</p>" in seen for n in range(40)) and "e-start" in html
    assert "Show what was before" in get(client, page_of(session, "?tab=timeline"))
    cursor, rounds = 0, 0
    while cursor < Session.objects.get(pk=session.pk).seq:
        html = get(client, page_of(session, f"live/?after={cursor}"))
        cursor, rounds = int(html.split('name="after" value="')[1].split('"')[0]), rounds + 1
    assert rounds == 3 and "say 39" in html
    monkeypatch.setattr("sessions.queries.page.MAX_CALLS", 10)
    html = get(client, page_of(session, "?tab=calls"))
    assert html.count('id="c-call-') == 10 and "before=32" in html
    assert get(client, page_of(session, "?tab=calls&before=32")).count('id="c-call-') == 10


def test_pages_of_the_list_lead_on_and_back(waiting, alice, browser_of, monkeypatch):
    rows = [waiting() for _ in range(5)]
    from sessions.views import sessions as views

    page = views.session_page
    monkeypatch.setattr(views, "session_page", lambda *args, **more: page(*args, **{**more, "limit": 2}))
    client = browser_of(alice)

    def shown(path):
        html = get(client, path)
        return [str(row.pk) in html for row in rows], html

    first, html = shown("/w/acme/sessions/?state=parked")
    assert first == [False, False, False, True, True] and "Newer" not in html
    path = "/w/acme/sessions/" + html.split('rel="next" href="')[1].split('"')[0].replace("&amp;", "&")
    second, html = shown(path)
    assert second == [False, True, True, False, False] and "state=parked" in path
    path = "/w/acme/sessions/" + html.split('rel="prev" href="')[1].split('"')[0].replace("&amp;", "&")
    assert shown(path)[0] == first


def test_filters_and_search_narrow_the_list(waiting, alice, alice_actor, browser_of):
    waits, done = waiting(), waiting([{"say": "ok"}])
    session = Session.objects.get(pk=waits.pk)
    client = browser_of(alice)
    for query, found in {
        "state=parked": [waits],
        "state=completed": [done],
        "waiting_kind=ask_user": [waits],
        "waiting_kind=unknown_outcome": [],
        "needs_person=1": [waits],
        f"agent={session.version.agent.slug}": [waits],
        "q=decide": [waits, done],
        "q=nothing+like+it": [],
        f"q={done.pk}": [done],
    }.items():
        html = get(client, f"/w/acme/sessions/?{query}")
        assert [str(one.pk) in html for one in (waits, done)] == [one in found for one in (waits, done)], query
    assert "No session is like that" in get(client, "/w/acme/sessions/?q=nothing")
    html = get(client, "/w/acme/sessions/")
    assert "asks: Which name?" in html and "<title>(1) Sessions" in html
