"""Every address of this room: who gets in, who is refused, and to whom it looks as if nothing were there."""

import pytest
from django.test import Client
from django.urls import reverse

from sessions import urls
from sessions.models import Call, Session
from tests.console.conftest import page_of
from tests.sessions.conftest import state, the_wait

pytestmark = pytest.mark.django_db(transaction=True)

READ, OPERATE, ADMINISTER = "read", "operate", "administer"
LETS = {READ: {"victor", "alice", "bob", "ada"}, OPERATE: {"alice", "bob", "ada"}, ADMINISTER: {"ada"}}
# name -> (right, method). A new address without a line here fails below.
DOORS = {
    "list": (READ, "get"),
    "start": (OPERATE, "get"),
    "detail": (READ, "get"),
    "live": (READ, "get"),
    "result": (READ, "get"),
    "cancel": (OPERATE, "post"),
    "pause": (OPERATE, "post"),
    "resume": (OPERATE, "post"),
    "retry": (OPERATE, "post"),
    "steer": (OPERATE, "post"),
    "answer": (OPERATE, "post"),
    "cancel_yield": (OPERATE, "post"),
    "settle": (OPERATE, "post"),
    "agents": (READ, "get"),
    "agent_new": (ADMINISTER, "get"),
    "agent_edit": (ADMINISTER, "get"),
    "agent_versions": (READ, "get"),
    "providers": (READ, "get"),
    "provider_new": (ADMINISTER, "get"),
    "provider_edit": (ADMINISTER, "get"),
}


def address(name: str, session: Session) -> str:
    call = Call.objects.filter(session=session).first()
    known = {
        "session_id": session.pk,
        "yield_id": the_wait(session).pk,
        "call_id": call.pk if call else None,
        "agent_slug": session.version.agent.slug,
        "provider_slug": "scripted",
    }
    pattern = next(one.pattern for one in urls.urlpatterns if one.name == name)
    wanted = {key: known[key] for key in pattern.converters if key != "slug"}
    return reverse(f"sessions:{name}", kwargs={"slug": session.workspace.slug, **wanted})


def test_every_address_is_in_the_table():
    assert {one.name for one in urls.urlpatterns} == set(DOORS)


@pytest.mark.parametrize("name", DOORS)
def test_a_door_lets_in_whom_it_should(name, waiting, victor, alice, bob, ada, mallory, browser_of):
    right, method = DOORS[name]
    session = waiting()
    path = address(name, session)
    assert getattr(Client(), method)(path).status_code == 302  # to the login
    assert getattr(browser_of(mallory), method)(path).status_code == 404
    for user in (victor, alice, bob, ada):
        # What is sent is empty, so nothing is changed: the answer is the right's, or a form's, or a state's.
        found = getattr(browser_of(user), method)(path).status_code
        if user.username in LETS[right]:
            assert found in ((200, 404) if name == "result" else (200, 302, 409, 422)), (user, found)
        else:
            assert found == 403, (user, found)
        if name in ("cancel", "pause"):
            session = waiting()
            path = address(name, session)


@pytest.mark.parametrize("name", [name for name, (_, method) in DOORS.items() if method == "post"])
def test_a_get_never_decides_anything(name, waiting, ada, browser_of):
    session = waiting()
    assert browser_of(ada).get(address(name, session)).status_code == 405
    assert state(session) == "parked" and the_wait(session)


@pytest.mark.parametrize("name", ["answer", "cancel", "steer"])
def test_a_post_from_another_site_is_refused(name, waiting, alice):
    session = waiting()
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")
    response = client.post(address(name, session), {"response": "x", "text": "x"})
    assert response.status_code == 403 and state(session) == "parked"


def test_a_session_is_not_found_through_another_workspace(waiting, other, sue, browser_of):
    session = waiting()
    client = browser_of(sue)
    assert client.get(page_of(session)).status_code == 200
    assert client.get(page_of(session).replace("/acme/", "/other/")).status_code == 404
    assert client.post(page_of(session, "cancel/").replace("/acme/", "/other/")).status_code == 404
    assert state(session) == "parked"


def test_a_viewer_sees_no_buttons_and_why(waiting, victor, browser_of):
    html = browser_of(victor).get(page_of(waiting())).content.decode()
    assert "has to answer; your role only looks." in html
    assert "Send answer" not in html and "Cancel session" not in html and "<textarea" not in html
