"""The sockets of live pages: read-only, one per open page.

A frame of the channel layer says "session S changed, up to N"; the socket reads the rows after its cursor in a thread
and sends the fragments of `sessions.sockets`. Losing every frame costs seconds, never truth: one lookout per process
compares all open pages with the rows every 3 s, and each socket looks by itself right after connecting and then every
20 to 28 s, which is also how one whose login or role has ended is closed in time.

Invariants: nothing that comes in is acted on; access is asked at the connect and before each message; while one
message is being made, further frames only leave a mark, so what waits per socket is one render and at most 100 ids.
"""

import asyncio
import contextlib
import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID
from weakref import WeakKeyDictionary

import structlog
from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import DatabaseError, InterfaceError
from django.urls import re_path

from sessions.live import session_group, workspace_group
from sessions.queries.page import seqs
from sessions.sockets import Listener, ListListener, SessionListener, SignedOut
from sessions.views.replies import number
from workspaces.errors import LaybyError

RESYNC_SECONDS = 20.0
JITTER_SECONDS = 8.0  # so that a thousand pages don't look in the same second
# Between two messages to one socket: longer with more sockets, so that all of them together keep the process free.
PAUSE_SECONDS = 0.15
MOST_PAUSE_SECONDS = 3.0
FULL_PACE = 10
LOOKOUT_SECONDS = 3.0
MAX_WAITING = 100
MAX_RECEIVED = 20

SIGNED_OUT, FORBIDDEN, GONE = 4401, 4403, 4404
OVERLOADED, POLICY, BROKEN = 1013, 1008, 1011

log = structlog.get_logger(__name__)

# Four database connections at most for all sockets of the process: requests must not wait for pages that listen.
_threads = ThreadPoolExecutor(4, thread_name_prefix="layby-live")


class Lookout:
    """Looks once for all sockets of this process whether the rows have gone on without a frame reaching them."""

    def __init__(self) -> None:
        self.sockets: set[LiveSocket] = set()
        self.task: asyncio.Task[None] | None = None

    def add(self, socket: "LiveSocket") -> None:
        """Look for *socket* too, from now on."""
        self.sockets.add(socket)
        if self.task is None or self.task.done():
            self.task = asyncio.create_task(self._look())

    async def _look(self) -> None:
        while self.sockets:
            await asyncio.sleep(LOOKOUT_SECONDS)
            sockets = list(self.sockets)
            lists = [socket for socket in sockets if isinstance(socket, ListSocket)]
            ones = {socket.watched for socket in sockets if socket not in lists}
            try:
                sessions, places = await _in_thread(seqs, ones, {socket.watched for socket in lists})
            except Exception as error:  # noqa: BLE001 - the database is away: each socket finds out by itself
                log.warning("live_pages_not_compared", error=type(error).__name__)
                continue
            for socket in sockets:
                known = places.get(socket.watched, {}) if socket in lists else sessions
                if socket.listener is not None and (missed := socket.listener.behind(known)):
                    socket.mark(missed)


def pause(sockets: int) -> float:
    """Seconds between two messages to one of *sockets*."""
    return min(PAUSE_SECONDS * max(1.0, sockets / FULL_PACE), max(MOST_PAUSE_SECONDS, PAUSE_SECONDS))


_lookouts: WeakKeyDictionary[asyncio.AbstractEventLoop, Lookout] = WeakKeyDictionary()


def lookout() -> Lookout:
    """The one of the running loop; a server has one."""
    return _lookouts.setdefault(asyncio.get_running_loop(), Lookout())


class LiveSocket(AsyncWebsocketConsumer):  # type: ignore[misc]
    """What both sockets do; they say whom they listen for."""

    def __init__(self) -> None:
        super().__init__()
        self.listener: Listener | None = None
        self.group = ""
        self.watched = UUID(int=0)
        self.changed: set[str] = set()
        self.look = asyncio.Event()
        self.received = 0
        self.task: asyncio.Task[None] | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> Any:
        try:
            return await super().__call__(scope, receive, send)
        finally:
            # However the socket ended: by the browser, by the broker (an exception), by the server.
            lookout().sockets.discard(self)
            if self.task is not None:
                self.task.cancel()

    async def dispatch(self, message: dict[str, Any]) -> None:
        """As the base, without its hop into a thread for frames of the layer: they touch no database."""
        if message["type"] == "session.changed":
            await self.session_changed(message)
        else:
            await super().dispatch(message)

    def listener_of(self, key: str | None, route: dict[str, str], query: dict[str, list[str]]) -> Listener:
        """Whom this socket listens for."""
        raise NotImplementedError

    def group_name(self, id_: Any) -> str:
        """The channel group of that id."""
        raise NotImplementedError

    async def connect(self) -> None:
        """Let the page in if its person may see it; refused before the socket is accepted otherwise."""
        query = parse_qs(self.scope["query_string"].decode("ascii", "replace"))
        key = self.scope["session"].session_key
        listener = self.listener_of(key, self.scope["url_route"]["kwargs"], query)
        try:
            self.watched = await _in_thread(listener.watched)
        except LaybyError:
            await self.close()
            return
        self.group = self.group_name(self.watched)
        # Listening first, looking second: what happens between the two is seen twice, never missed.
        await self.channel_layer.group_add(self.group, self.channel_name)
        self.listener = listener
        await self.accept()
        self.task = asyncio.create_task(self._serve(listener))
        lookout().add(self)

    async def disconnect(self, code: int) -> None:
        """Leave the group."""
        if self.task is not None:
            self.task.cancel()
        if self.group:
            with contextlib.suppress(Exception):  # the broker forgets it by itself
                await self.channel_layer.group_discard(self.group, self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Nothing a page says is acted on; one that goes on talking is closed."""
        self.received += 1
        if self.received > MAX_RECEIVED:
            await self.close(POLICY)

    async def session_changed(self, message: dict[str, Any]) -> None:
        """A frame of the layer: leave a mark."""
        self.mark({str(message["session"])})
        if len(self.changed) > MAX_WAITING:
            self.changed.clear()
            await self.close(OVERLOADED)

    def mark(self, sessions: set[str]) -> None:
        """Say that *sessions* have news."""
        self.changed |= sessions
        self.look.set()

    async def _serve(self, listener: Listener) -> None:
        again = True
        while True:
            try:
                changed, self.changed = self.changed, set()
                self.look.clear()
                html, more = await _in_thread(listener.news, changed, again)
                if html:
                    await self.send(text_data=html)
            except SignedOut:
                await self.close(SIGNED_OUT)
                return
            except LaybyError as error:
                await self.close(FORBIDDEN if error.status == 403 else GONE)
                return
            except (DatabaseError, InterfaceError) as error:
                # The page falls back to asking, and comes back by itself.
                log.warning("live_page_not_served", error=type(error).__name__)
                await self.close(BROKEN)
                return
            except Exception:
                log.exception("live_page_failed")
                await self.close(BROKEN)
                return
            await asyncio.sleep(pause(len(lookout().sockets)))
            again = not more and not await self._marked()

    async def _marked(self) -> bool:
        """Wait for a frame, at most until it is time to look without one; whether there was one."""
        try:
            await asyncio.wait_for(self.look.wait(), RESYNC_SECONDS + random.random() * JITTER_SECONDS)  # noqa: S311
        except TimeoutError:
            return False
        return True


class SessionSocket(LiveSocket):
    """The page of one session: `/ws/w/SLUG/sessions/ID/?after=SEQ`."""

    def listener_of(self, key: str | None, route: dict[str, str], query: dict[str, list[str]]) -> Listener:
        return SessionListener(key, route["slug"], route["session_id"], number(query.get("after", [""])[0]))

    def group_name(self, id_: Any) -> str:
        return session_group(id_)


class ListSocket(LiveSocket):
    """The list of a workspace's sessions: `/ws/w/SLUG/sessions/`."""

    def listener_of(self, key: str | None, route: dict[str, str], query: dict[str, list[str]]) -> Listener:
        return ListListener(key, route["slug"])

    def group_name(self, id_: Any) -> str:
        return workspace_group(id_)


class Nowhere(AsyncWebsocketConsumer):  # type: ignore[misc]
    """Any other address: refused, not an error of ours."""

    async def connect(self) -> None:
        await self.close()


async def _in_thread(act: Any, *args: Any) -> Any:
    """*act* in one of the threads for live pages, with a connection that goes back to the pool afterwards."""
    return await database_sync_to_async(act, thread_sensitive=False, executor=_threads)(*args)


routes = [
    re_path(r"^ws/w/(?P<slug>[a-z][a-z0-9-]{1,63})/sessions/$", ListSocket.as_asgi()),
    re_path(r"^ws/w/(?P<slug>[a-z][a-z0-9-]{1,63})/sessions/(?P<session_id>[0-9a-f-]{36})/$", SessionSocket.as_asgi()),
    re_path(r"", Nowhere.as_asgi()),
]
