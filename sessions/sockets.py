"""What a live page is told: whether it may still listen, and what is new since its cursor.

Lives here: the synchronous half of `consumers`, one call per message: access first, then rows, then fragments, the
same ones as the views render. Invariants: nothing is rendered for a login that ended, a person made inactive, a role
that was taken; every call asks the database anew; nothing here changes a row.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from threading import Lock
from time import monotonic
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest
from django.template.loader import render_to_string

from sessions.access import access_session
from sessions.models import Session
from sessions.present.header import row
from sessions.queries.lists import rows, session_page
from sessions.queries.page import needs, seqs
from sessions.views import page
from workspaces.access import admit
from workspaces.actors import Actor
from workspaces.errors import LaybyError
from workspaces.models import User, Workspace
from workspaces.roles import Role


class SignedOut(LaybyError):
    """You are signed out."""

    code = "signed_out"
    status = 401


def person_of(key: str | None) -> User:
    """Whose login the browser session *key* is now. Raises SignedOut: logged out, password changed, made inactive."""
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(key)
    user = get_user(request) if key else None
    if not isinstance(user, User) or not user.is_active:
        raise SignedOut()
    return user


class Shared:
    """What was rendered a moment ago, for the other pages that show the same: many may look at one session."""

    SECONDS = 1.0
    MOST = 100

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: OrderedDict[Hashable, tuple[float, Any]] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What *make* gives, or gave for *key* within the last second."""
        with self._lock:
            at, found = self._kept.get(key, (-self.SECONDS, None))
            if monotonic() - at < self.SECONDS:
                return found
        found = make()
        with self._lock:
            self._kept[key] = (monotonic(), found)
            while len(self._kept) > self.MOST:
                self._kept.popitem(last=False)
        return found


_shared = Shared()


@dataclass
class Listener:
    """One page that listens: whose login, in which workspace. Used by one thread at a time."""

    key: str | None
    slug: str

    def enter(self) -> tuple[Actor, Workspace, Role]:
        """Who listens, with their role at this moment. Raises SignedOut, NotFound, Forbidden."""
        actor = Actor.for_user(person_of(self.key))
        workspace, role = admit(actor, self.slug)
        return actor, workspace, role

    def watched(self) -> UUID:
        """The id whose channel group this page listens to. Raises as `enter`."""
        raise NotImplementedError

    def behind(self, seqs: Mapping[UUID, int]) -> set[str]:
        """The sessions whose journal number in *seqs* is above what the page was told."""
        raise NotImplementedError

    def news(self, changed: set[str], again: bool) -> tuple[str, bool]:
        """(the fragments to send, "" for none; whether there is more). *again*: also look at what sent no frame."""
        raise NotImplementedError


@dataclass
class SessionListener(Listener):
    """The page of one session. `cursor`: the last journal number it shows; None: it said none."""

    session: str = ""
    cursor: int | None = None
    rest: tuple[Role, int] | None = None

    def watched(self) -> UUID:
        return self._session()[0].pk

    def behind(self, seqs: Mapping[UUID, int]) -> set[str]:
        found = seqs.get(UUID(self.session))
        return {self.session} if found is not None and self.cursor is not None and found > self.cursor else set()

    def _session(self) -> tuple[Session, Role]:
        actor, workspace, role = self.enter()
        return access_session(actor, self.session, workspace=workspace), role

    def news(self, changed: set[str], again: bool) -> tuple[str, bool]:
        session, role = self._session()
        before = self.rest
        # What moves without a frame of this session: how much else needs a person, and what this one may do.
        self.rest = (role, needs(session.workspace) if again or before is None else before[1])
        if self.cursor is None:
            self.cursor = session.seq
        if self.cursor == session.seq and before in (None, self.rest):
            return "", False
        html, self.cursor, more, waiting = _shared.get(
            (session.pk, self.cursor, session.seq, role, self.rest), lambda: _news(session, role, self.cursor)
        )
        self.rest = (role, waiting)
        return html, more


def _news(session: Session, role: Role, after: int | None) -> tuple[str, int, bool, int]:
    """(the fragments, the cursor behind them, whether there is more, how much needs a person)."""
    context = page.news(session, role, after)
    html = render_to_string("sessions/_live.html", context)
    return html, context["cursor"], context["behind"], context["needs"]


@dataclass
class ListListener(Listener):
    """The list of a workspace's sessions."""

    shown: str = ""
    told: dict[UUID, int] | None = None

    def watched(self) -> UUID:
        return self.enter()[1].pk

    def behind(self, seqs: Mapping[UUID, int]) -> set[str]:
        told = self.told
        # Without a first message there is nothing to compare with; it is on its way.
        return set() if told is None else {str(one) for one, seq in seqs.items() if seq > told.get(one, 0)}

    def news(self, changed: set[str], again: bool) -> tuple[str, bool]:
        _, workspace, _ = self.enter()
        if self.told is None:
            self.told = dict(seqs((), [workspace.pk])[1].get(workspace.pk, {}))
        if not again:
            return self._rendered(workspace, rows([UUID(one) for one in sorted(changed, reverse=True)])), False
        html = self._rendered(workspace, session_page(workspace).items)
        if html == self.shown and not changed:
            return "", False
        self.shown = html
        return html, False

    def _rendered(self, workspace: Workspace, documents: Sequence[dict[str, Any]]) -> str:
        assert self.told is not None
        self.told |= {UUID(document["id"]): document["seq"] for document in documents}
        context = {
            "workspace": workspace,
            "rows": [row(document) for document in documents],
            "needs": needs(workspace),
        }
        return render_to_string("sessions/_live_rows.html", context)
