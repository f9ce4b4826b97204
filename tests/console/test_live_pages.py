"""An open page follows its session: by socket and by asking, with the same fragments, and only while its person may."""

import asyncio
import re
from collections.abc import Callable
from threading import Barrier
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.db import connections
from django.test import Client

from config.asgi import application
from sessions import consumers, live
from sessions.models import Session
from sessions.operations.answers import answer
from sessions.operations.sessions import start_session
from sessions.sockets import SessionListener
from tests.cast import PASSWORD
from tests.console.conftest import HTMX, get, page_of, text_of
from tests.sessions.conftest import work
from workspaces.models import Membership

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(consumers, "RESYNC_SECONDS", 0.4)
    monkeypatch.setattr(consumers, "JITTER_SECONDS", 0.0)
    monkeypatch.setattr(consumers, "PAUSE_SECONDS", 0.02)


@pytest.fixture(autouse=True)
async def no_connection_is_left(transactional_db):
    yield
    # Channels' testing keeps them open; a test of its own proves that the product does not.
    each_live_thread(connections.close_all)
    await sync_to_async(connections.close_all)()


def each_live_thread(act: Callable[[], Any]) -> list[Any]:
    """What *act* returns in each of the threads that serve sockets."""
    together = Barrier(4, timeout=5)
    futures = [consumers._threads.submit(lambda: (together.wait(), act())[1]) for _ in range(4)]
    return [future.result() for future in futures]


def socket_to(client: Client, path: str, origin: str | None = settings.PUBLIC_URL) -> WebsocketCommunicator:
    cookie = (
        client.cookies[settings.SESSION_COOKIE_NAME].value if settings.SESSION_COOKIE_NAME in client.cookies else ""
    )
    headers = [(b"host", b"127.0.0.1:8000"), (b"cookie", f"{settings.SESSION_COOKIE_NAME}={cookie}".encode())]
    if origin is not None:
        headers.append((b"origin", origin.encode()))
    return WebsocketCommunicator(application, path, headers=headers)


def ws(session: Session, more: str = "") -> str:
    return f"/ws/w/{session.workspace.slug}/sessions/{session.pk}/{more}"


LIST = "/ws/w/acme/sessions/"


async def opens(socket: WebsocketCommunicator) -> bool:
    connected, _ = await socket.connect(timeout=5)
    return connected


async def closed_with(socket: WebsocketCommunicator, timeout: float = 5) -> int:
    """The code it is closed with; what is sent before is skipped."""
    while True:
        message = await socket.receive_output(timeout=timeout)
        if message["type"] == "websocket.close":
            return message["code"]


async def until(socket: WebsocketCommunicator, words: str) -> str:
    while words not in (html := await socket.receive_from(timeout=5)):
        pass
    return html


async def test_the_page_follows_without_being_asked(waiting, worker, alice, alice_actor, browser_of):
    session = await sync_to_async(waiting)()
    socket = socket_to(await sync_to_async(browser_of)(alice), ws(session, f"?after={session.seq}"))
    assert await opens(socket)
    await sync_to_async(answer)(alice_actor, session, "report.md")
    html = await until(socket, "Answered by alice")
    assert "Resuming" in html and f'value="{session.seq + 2}"' in html
    await sync_to_async(work)(worker)
    await until(socket, "Completed")
    await socket.disconnect()


async def test_what_came_before_the_socket_is_sent_right_after_connecting(waiting, alice, alice_actor, browser_of):
    session = await sync_to_async(waiting)()
    await sync_to_async(answer)(alice_actor, session, "report.md")
    socket = socket_to(await sync_to_async(browser_of)(alice), ws(session, f"?after={session.seq}"))
    assert await opens(socket)
    await until(socket, "Answered by alice")
    await socket.disconnect()


async def test_the_list_sends_the_rows_that_changed(waiting, acme, alice, alice_actor, browser_of, make_agent):
    session = await sync_to_async(waiting)()
    socket = socket_to(await sync_to_async(browser_of)(alice), LIST)
    assert await opens(socket)
    html = await until(socket, "Waiting")
    assert f'id="s-{session.pk}"' in html
    slug = await sync_to_async(make_agent)([])
    fresh = (await sync_to_async(start_session)(alice_actor, acme, slug, "Another task"))[0]
    html = await until(socket, "Another task")
    assert f'id="s-{fresh.pk}"' in html and f'id="s-{session.pk}"' not in html
    await socket.disconnect()


async def test_a_socket_is_refused_to_other_sites_to_strangers_and_to_nobody(
    waiting, alice, mallory, browser_of, monkeypatch
):
    session = await sync_to_async(waiting)()
    hers = await sync_to_async(browser_of)(alice)
    for path in (ws(session), LIST):
        for origin in ("https://evil.example", "null", None, "http://127.0.0.1:8001", "http://sub.127.0.0.1:8000"):
            assert not await opens(socket_to(hers, path, origin))
        assert not await opens(socket_to(await sync_to_async(browser_of)(mallory), path))
        assert not await opens(socket_to(Client(), path))
    assert not await opens(socket_to(hers, f"/ws/w/other/sessions/{session.pk}/"))
    assert not await opens(socket_to(hers, "/ws/anything"))
    socket = socket_to(hers, ws(session))
    assert await opens(socket)
    await socket.disconnect()


@pytest.mark.parametrize("path", [ws, lambda session: LIST])
async def test_it_is_closed_when_the_role_is_taken(waiting, alice, browser_of, path):
    session = await sync_to_async(waiting)()
    socket = socket_to(await sync_to_async(browser_of)(alice), path(session))
    assert await opens(socket)
    await Membership.objects.filter(user=alice).adelete()
    assert await closed_with(socket) == consumers.GONE


def log_out(client, user):
    client.logout()


def new_password(client, user):
    user.set_password(PASSWORD + "2")
    user.save()


def inactive(client, user):
    user.is_active = False
    user.save()


@pytest.mark.parametrize("ends", [log_out, new_password, inactive])
async def test_it_is_closed_when_the_login_ends(waiting, alice, browser_of, ends):
    session = await sync_to_async(waiting)()
    client = await sync_to_async(browser_of)(alice)
    socket = socket_to(client, ws(session))
    assert await opens(socket)
    await sync_to_async(ends)(client, alice)
    # A look that had begun may have known the person and then found no role.
    assert await closed_with(socket) in (consumers.SIGNED_OUT, consumers.GONE)


async def test_nothing_is_sent_after_the_role_is_taken(waiting, alice, bob_actor, browser_of, monkeypatch):
    monkeypatch.setattr(consumers, "RESYNC_SECONDS", 60)
    session = await sync_to_async(waiting)()
    socket = socket_to(await sync_to_async(browser_of)(alice), ws(session, f"?after={session.seq}"))
    assert await opens(socket)
    await Membership.objects.filter(user=alice).adelete()
    await sync_to_async(answer)(bob_actor, session, "secret.md")
    message = await socket.receive_output(timeout=5)
    assert message["type"] == "websocket.close" and message["code"] == consumers.GONE


@pytest.mark.parametrize("path", [lambda session: ws(session, f"?after={session.seq}"), lambda session: LIST])
async def test_a_page_is_right_within_seconds_when_every_frame_is_lost(
    waiting, worker, alice, alice_actor, browser_of, monkeypatch, path
):
    monkeypatch.setattr(consumers, "RESYNC_SECONDS", 60)
    monkeypatch.setattr(consumers, "LOOKOUT_SECONDS", 0.2)
    session = await sync_to_async(waiting)()
    socket = socket_to(await sync_to_async(browser_of)(alice), path(session))
    assert await opens(socket)
    if path(session) == LIST:
        await until(socket, "Waiting")
    monkeypatch.setattr(live, "push_on_commit", lambda *_: None)
    await sync_to_async(answer)(alice_actor, session, "report.md")
    await until(socket, "Resuming")
    await sync_to_async(work)(worker)
    await until(socket, "Completed")
    assert await socket.receive_nothing(timeout=0.7)  # and then it is quiet
    await socket.disconnect()


async def test_a_page_that_talks_is_not_listened_to_and_closed_if_it_goes_on(waiting, alice, browser_of):
    session = await sync_to_async(waiting)()
    socket = socket_to(await sync_to_async(browser_of)(alice), ws(session))
    assert await opens(socket)
    for _ in range(consumers.MAX_RECEIVED + 1):
        await socket.send_to(text_data='{"type": "session.changed", "session": "x"}')
    assert await closed_with(socket) == consumers.POLICY


async def test_more_than_a_hundred_waiting_changes_close_the_socket(alice, acme, browser_of, monkeypatch):
    socket = socket_to(await sync_to_async(browser_of)(alice), LIST)
    assert await opens(socket)
    monkeypatch.setattr(consumers, "PAUSE_SECONDS", 30)
    layer = get_channel_layer()
    for number in range(250):
        frame = {"type": "session.changed", "session": f"{number:032x}", "seq": "1"}
        await layer.group_send(f"workspace.{acme.pk}", frame)
        await asyncio.sleep(0.002)
    assert await closed_with(socket) == consumers.OVERLOADED


def fragment(html: str, id_: str) -> str:
    """What stands between an element's id and the end of its list, without what differs by the way it came."""
    html = re.sub(r'<input type="hidden" name="csrfmiddlewaretoken"[^>]*>| hx-swap-oob="[^"]*"', "", html)
    found = re.search(rf'<(\w+)[^>]* id="{id_}".*?</\1>', html, re.DOTALL)
    assert found, id_
    return re.sub(r"\s+", " ", found[0])


def test_the_news_from_the_start_are_the_page(waiting, worker, alice, alice_actor, browser_of):
    session, client = waiting(), browser_of(alice)
    answer(alice_actor, session, "report.md")
    work(worker)
    page, news = get(client, page_of(session)), get(client, page_of(session, "live/?after=0"))
    for id_ in ("session-header", "start", "t1", "t2", "now", "why"):
        if id_ in ("start", "t1", "t2"):
            id_ = f"e-{id_}"
        assert fragment(page, id_) == fragment(news, id_)
    assert re.findall(r'<li id="(e-[^"]+)"', page) == re.findall(r'<li id="(e-[^"]+)"', news)
    timeline = get(client, page_of(session, "?tab=timeline"))
    assert re.findall(r'<li id="(j-[^"]+)"', timeline) == re.findall(r'<li id="(j-[^"]+)"', news)


def test_asking_gives_what_is_new_after_the_cursor_and_nothing_twice(waiting, worker, alice, alice_actor, browser_of):
    session, client = waiting(), browser_of(alice)
    html = get(client, page_of(session, f"live/?after={session.seq}"))
    assert "<li id=" not in html.split('id="now"')[0] and "Parked" in html
    answer(alice_actor, session, "report.md")
    work(worker)
    html = get(client, page_of(session, f"live/?after={session.seq}"))
    # The turn whose call got its result is there again, whole; the rest is new.
    assert re.findall(r'<li id="e-([^"]+)"', html)[0] == "t1"
    assert "Answered by alice" in html and "Completed" in html and "e-start" not in html
    assert text_of(client.get(page_of(session, "live/?after=99999"), headers=HTMX)).count("<li id=") == 0


async def test_the_threads_of_live_pages_give_their_connections_back(waiting, alice, browser_of):
    # Not through a socket: Channels' own testing keeps connections open.
    session = await sync_to_async(waiting)()
    client = await sync_to_async(browser_of)(alice)
    key = client.cookies[settings.SESSION_COOKIE_NAME].value
    listeners = [SessionListener(key, "acme", str(session.pk), 0) for _ in range(8)]
    found = await asyncio.gather(*[consumers._in_thread(one.news, set(), True) for one in listeners])
    assert all("Parked" in html for html, _ in found)
    assert each_live_thread(lambda: connections["default"].connection) == [None] * 4
