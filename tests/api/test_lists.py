"""The list of sessions and the inbox: filters, search, order, pages without gaps or repeats."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from sessions.models import Session, SessionText, Yield
from sessions.operations.sessions import start_session
from sessions.queries.inbox import inbox
from sessions.queries.lists import id_range, session_page
from workspaces.actors import SYSTEM

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 5, 1, tzinfo=UTC)
ATTENTION = {"code": "poison", "message": "It died three times.", "since": "2026-05-01T00:00:00+00:00"}


@pytest.fixture
def session_in(acme, make_agent):
    """A session put into a state by hand (no worker needed): newest last."""
    slug = make_agent([])

    def make(state="completed", title="Some work", agent=slug, wait=None, deadline=None, attention=None, where=acme):
        session, _ = start_session(SYSTEM, where, agent, "Go.", title=title)
        Session.objects.filter(pk=session.pk).update(state=state, attention=attention)
        if wait:
            Yield.objects.create(
                session=session, workspace=where, frame=session.frames.get().pk, kind=wait,
                reason={"external": "external", "approval": "approval"}.get(wait, "question"),
                event_key=f"{wait}:{session.pk}", opened_at=NOW, deadline_at=deadline,
                shown='{"prompt":"What now?"}' if wait == "ask_user" else "{}",
            )  # fmt: skip
        return str(session.pk)

    return make


def ids(page):
    return [item["id"] for item in page.items]


def test_the_newest_is_first_and_pages_lead_there_and_back(acme, session_in):
    made = [session_in(random.choice(["completed", "parked", "failed", "queued"])) for _ in range(11)][::-1]
    first = session_page(acme, limit=4)
    second = session_page(acme, limit=4, cursor=first.next_cursor)
    third = session_page(acme, limit=4, cursor=second.next_cursor)
    assert ids(first) + ids(second) + ids(third) == made
    assert first.previous_cursor is None and third.next_cursor is None
    back = session_page(acme, limit=4, cursor=third.previous_cursor)
    assert ids(back) == ids(second) and back.next_cursor
    assert ids(session_page(acme, limit=4, cursor=back.next_cursor)) == ids(third)
    top = session_page(acme, limit=4, cursor=back.previous_cursor)
    assert ids(top) == ids(first) and top.previous_cursor is None
    assert ids(session_page(acme, limit=4, cursor=top.next_cursor)) == ids(second)


def test_filters_narrow_together(acme, session_in, make_agent):
    other_agent = make_agent([])
    done, failed = session_in("completed"), session_in("failed")
    asks, event = session_in("parked", wait="ask_user"), session_in("parked", wait="external", agent=other_agent)
    aside, unknown = session_in("parked", attention=ATTENTION), session_in("paused", wait="unknown_outcome")
    assert ids(session_page(acme)) == [unknown, aside, event, asks, failed, done]
    assert ids(session_page(acme, states=["failed", "completed"])) == [failed, done]
    assert ids(session_page(acme, waiting_kind="external")) == [event]
    assert ids(session_page(acme, needs_person=True)) == [unknown, aside, asks]
    assert ids(session_page(acme, needs_person=True, states=["parked"])) == [aside, asks]
    assert ids(session_page(acme, agent=other_agent)) == [event]
    assert ids(session_page(acme, agent=other_agent, needs_person=True)) == []
    assert ids(session_page(acme, states=["completed"], needs_person=True)) == []
    Yield.objects.update(outcome="answered", outcome_at=NOW, taken_at=NOW)
    assert ids(session_page(acme, needs_person=True)) == [aside]


def test_the_search_takes_titles_as_they_are_written(acme, session_in):
    percent, plain = session_in(title="Grow by 50% this year"), session_in(title="Über_die Brücke")
    session_in(title="50 percent")
    assert ids(session_page(acme, q="50%")) == [percent]
    assert ids(session_page(acme, q="über_")) == [plain]
    assert ids(session_page(acme, q="BRÜCKE")) == [plain]
    assert ids(session_page(acme, q="\\")) == []
    assert ids(session_page(acme, q="'; --")) == []
    assert len(ids(session_page(acme, q="  "))) == 3


def test_the_beginning_of_an_id_finds_it(acme, session_in):
    made = session_in(title="No digits here")
    for length in (8, 12, 14, 20, 36):
        assert made in ids(session_page(acme, q=made[:length]))
    assert ids(session_page(acme, q=made)) == ids(session_page(acme, q=made.upper())) == [made]
    assert ids(session_page(acme, q=made[:-1] + ("0" if made[-1] != "0" else "1"))) == []
    assert id_range("abc") is None and id_range("-") is None and id_range("xyz123") is None
    assert id_range("0123-4567") is None  # no id has its dash there


def test_the_same_session_is_listed_once_when_both_ways_find_it(acme, session_in):
    made = session_in()
    SessionText.objects.update(title=f"about {made}")
    assert ids(session_page(acme, q=made)) == [made]


def test_nothing_of_another_workspace_is_found(acme, other, session_in):
    made = session_in("parked", title="Hidden", wait="ask_user")
    for more in ({}, {"q": "Hidden"}, {"q": made}, {"needs_person": True}, {"waiting_kind": "ask_user"}):
        assert session_page(other, **more).items == []
        assert ids(session_page(acme, **more)) == [made]
    assert inbox(other).items == []
    assert session_page(other, agent=Session.objects.get().version.agent.slug).items == []


def test_the_inbox_has_the_nearest_deadline_first_then_the_oldest(acme, session_in):
    hour = timedelta(hours=1)
    open_end = session_in("parked", wait="ask_user")
    aside = session_in("parked", attention=ATTENTION)
    unknown = session_in("parked", wait="unknown_outcome")
    late = session_in("parked", wait="ask_user", deadline=NOW + 9 * hour)
    soon = session_in("paused", wait="ask_question", deadline=NOW + hour)
    approval = session_in("parked", wait="approval", deadline=NOW + 2 * hour)
    session_in("parked", wait="external", deadline=NOW)
    session_in("completed")
    items = inbox(acme).items
    expected = [soon, approval, late]
    assert [item["session"]["id"] for item in items[:3]] == expected
    assert {item["session"]["id"] for item in items[3:]} == {open_end, aside, unknown}
    by_id = {item["session"]["id"]: item for item in items}
    assert by_id[open_end]["summary"] == "What now?" and by_id[open_end]["wait"]["kind"] == "ask_user"
    assert by_id[aside]["kind"] == "attention" and by_id[aside]["wait"] is None
    assert by_id[aside]["summary"] == "It died three times." and by_id[aside]["opened_at"] == NOW
    assert [i["session"]["id"] for i in inbox(acme, kinds=["attention", "approval"]).items] == [approval, aside]
    for limit in (1, 2, 4):
        found, cursor = [], ""
        while cursor is not None:
            page = inbox(acme, limit=limit, cursor=cursor)
            assert len(page.items) <= limit
            found, cursor = found + page.items, page.next_cursor
        assert found == items


def test_equal_deadlines_do_not_confuse_the_pages(acme, session_in):
    made = {session_in("parked", wait="ask_user", deadline=NOW) for _ in range(7)}
    found, cursor = [], ""
    while cursor is not None:
        page = inbox(acme, limit=2, cursor=cursor)
        found, cursor = found + [item["session"]["id"] for item in page.items], page.next_cursor
    assert len(found) == 7 and set(found) == made


def test_the_inbox_over_http(session_in, viewer):
    made = session_in("parked", wait="ask_user")
    session_in("parked", attention=ATTENTION)
    (one,) = viewer.get("/api/inbox?kind=ask_user").ok()["items"]
    assert one["session"]["id"] == made and one["id"] == one["wait"]["id"]
    page = viewer.get("/api/inbox?limit=1").ok()
    assert len(viewer.get(f"/api/inbox?limit=1&cursor={page['next_cursor']}").ok()["items"]) == 1
