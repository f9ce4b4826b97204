"""The list of sessions: filters, search, keyset pages on the id (newest first).

Four or five statements a page. Ids are UUIDv7, so their order is the order of the starts.
"""

import re
from collections.abc import Collection, Iterator
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from sessions.models import AgentVersion, Session, SessionText, Yield
from sessions.queries.documents import PERSON_REASONS, session_documents
from sessions.queries.paging import Page, bounded, cursor_of, parts_of
from sessions.states import OPEN, State
from workspaces.errors import Invalid
from workspaces.ids import parse_id
from workspaces.models import Workspace
from workspaces.values import require_clean

MAX_QUERY = 200
MIN_ID_PREFIX = 4
WAITING_KINDS = (
    "ask_user",
    "ask_question",
    "approval",
    "timer",
    "trigger",
    "watch",
    "external",
    "children",
    "breakpoint",
    "unknown_outcome",
)
_HEX = re.compile(r"[0-9a-f-]+")


def session_page(
    workspace: Workspace,
    *,
    states: Collection[str] = (),
    agent: str | None = None,
    waiting_kind: str | None = None,
    needs_person: bool = False,
    q: str = "",
    cursor: str | None = None,
    limit: int = 50,
) -> Page[dict[str, Any]]:
    """Session documents (without input and metadata), newest first; the filters narrow together.

    `q`: a part of the title in any case, or the beginning of an id (from 4 characters on); at most 200 characters.
    `needs_person`: a question, an approval or a breakpoint is open, or it is set aside. `limit`: 1 to 200.
    Raises Invalid (a state, kind or cursor that is none, a search that is too long).
    """
    wanted = _states(states, waiting_kind, needs_person)
    narrowed = _narrowed(workspace, agent, waiting_kind)
    limit = bounded(limit)
    back, place = _place(cursor)
    if place is not None:
        narrowed = narrowed.filter(pk__gt=place) if back else narrowed.filter(pk__lt=place)
    order = "pk" if back else "-pk"
    # One ordered look into the index session_list per state: one over all states would have to sort what it finds.
    # A search is not repeated for each state: it finds few, and it is what costs.
    by_state = [[state] for state in wanted] if not q.strip() else [wanted]
    parts = [
        found.filter(state__in=some).order_by(order).values("pk")[: limit + 1]
        for some in by_state
        for needing in (_needing(narrowed) if needs_person else (narrowed,))
        for found in _searched(needing, q)
    ]
    if not parts:
        return Page([])
    joined = parts[0].union(*parts[1:]).order_by(order)[: limit + 1] if len(parts) > 1 else parts[0]
    ids = [row["pk"] for row in joined]
    more, ids = len(ids) > limit, ids[:limit]
    if back:
        ids.reverse()
    return Page(
        rows(ids),
        next_cursor=cursor_of("-", str(ids[-1])) if ids and (more or back) else None,
        previous_cursor=cursor_of("+", str(ids[0])) if ids and (more if back else place is not None) else None,
    )


def rows(ids: list[UUID]) -> list[dict[str, Any]]:
    """The documents of the sessions *ids*, in that order; one that is gone is left out."""
    found = (
        Session.objects.select_related("text", "version__agent")
        .defer("text__input", "text__metadata", "version__definition")
        .in_bulk(ids)
    )
    return session_documents([found[id_] for id_ in ids if id_ in found])


def _states(states: Collection[str], waiting_kind: str | None, needs_person: bool) -> list[str]:
    for state in states:
        if state not in list(State):
            raise Invalid(f"state: {str(state)[:40]!r} is not one of {', '.join(State)}.")
    # What waits has not ended: the many ended ones need not be looked at.
    possible = OPEN if waiting_kind or needs_person else frozenset(State)
    return [state for state in State if state in possible and (not states or state in states)]


def _narrowed(workspace: Workspace, agent: str | None, waiting_kind: str | None) -> QuerySet[Session]:
    found = Session.objects.filter(workspace=workspace)
    if agent:
        require_clean(agent, "agent")
        found = found.filter(version__in=AgentVersion.objects.filter(agent__workspace=workspace, agent__slug=agent))
    if waiting_kind:
        if waiting_kind not in WAITING_KINDS:
            raise Invalid(f"waiting_kind: {waiting_kind[:40]!r} is not one of {', '.join(WAITING_KINDS)}.")
        found = found.filter(_waits(kind=waiting_kind))
    return found


def _waits(**more: Any) -> Exists:
    # Both conditions: the index yield_untaken serves it, and an open wait is never taken.
    return Exists(Yield.objects.filter(session=OuterRef("pk"), taken_at__isnull=True, outcome__isnull=True, **more))


def _needing(found: QuerySet[Session]) -> tuple[QuerySet[Session], ...]:
    """*found* where a person is needed: two queries, because an OR over both would look at every wait there is."""
    return found.filter(attention__isnull=False), found.filter(_waits(reason__in=sorted(PERSON_REASONS)))


def _searched(found: QuerySet[Session], q: str) -> Iterator[QuerySet[Session]]:
    """*found* narrowed by the search: one query per way to match, so that each has its own index."""
    q = q.strip()
    if len(q) > MAX_QUERY:
        raise Invalid(f"q: at most {MAX_QUERY} characters.")
    require_clean(q, "q")
    if not q:
        yield found
        return
    yield found.filter(pk__in=SessionText.objects.filter(title__icontains=q).values("session"))
    if between := id_range(q):
        yield found.filter(pk__range=between)


def id_range(prefix: str) -> tuple[UUID, UUID] | None:
    """The first and the last id that begin with *prefix*; None if no id can."""
    text = prefix.lower()
    digits = text.replace("-", "")
    if not MIN_ID_PREFIX <= len(digits) <= 32 or not _HEX.fullmatch(text):
        return None
    first, last = UUID(digits.ljust(32, "0")), UUID(digits.ljust(32, "f"))
    return (first, last) if "-" not in text or str(first).startswith(text) else None


def _place(cursor: str | None) -> tuple[bool, UUID | None]:
    """(whether it leads back to newer ones, the id it stands at)."""
    if not cursor:
        return False, None
    direction, text = parts_of(cursor, str, str)
    place = parse_id(text)
    if direction not in ("+", "-") or place is None:
        raise Invalid("cursor: this is not a cursor of this list. Start without one.")
    return direction == "+", place
