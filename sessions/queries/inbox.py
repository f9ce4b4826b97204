"""The inbox: everything of a workspace that waits for a person, the most urgent first.

Urgency: what has a deadline, the nearest first; then what has none, the oldest first. Both parts are read in the order
of an index (yield_inbox, session_attention), so a page costs the same however much waits. At most six statements.
"""

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db.models import F, Q

from sessions.models import Session, Yield
from sessions.queries.documents import PERSON_REASONS, summary_of, yield_documents
from sessions.queries.lists import WAITING_KINDS
from sessions.queries.paging import Page, bounded, cursor_of, parts_of
from workspaces.errors import Invalid
from workspaces.ids import parse_id
from workspaces.models import Workspace

ATTENTION = "attention"
_LAST = datetime.max.replace(tzinfo=UTC)


def inbox(
    workspace: Workspace, *, limit: int = 50, cursor: str | None = None, kinds: Collection[str] = ()
) -> Page[dict[str, Any]]:
    """What waits for a person: open questions (unknown outcomes among them), approvals, breakpoints, and sessions
    that are set aside.

    An item: `{id, kind, reason, session: {id, title, state, agent, version}, summary, wait, attention, opened_at,
    deadline_at}`. `kind` is the wait's, or "attention" (then `id` is the session's and `wait` is None). `kinds`
    narrows. `limit`: 1 to 200. Raises Invalid.
    """
    for kind in kinds:
        if kind not in (*WAITING_KINDS, ATTENTION):
            raise Invalid(f"kind: {str(kind)[:40]!r} is not one of {', '.join((*WAITING_KINDS, ATTENTION))}.")
    limit = bounded(limit)
    deadline, place = _place(cursor)
    waits, aside = _found(workspace, deadline, place, kinds, limit + 1)
    keyed = [((w.deadline_at or _LAST, w.pk), w) for w in waits]
    entries: list[tuple[Any, Yield | Session]] = [*keyed]
    entries += [((_LAST, s.pk), s) for s in aside]
    entries.sort(key=lambda entry: entry[0])
    more, shown = len(entries) > limit, [row for _, row in entries[:limit]]
    return Page(_items(shown), next_cursor=_cursor(shown[-1]) if more else None)


def _found(
    workspace: Workspace, deadline: datetime | None, place: UUID | None, kinds: Collection[str], limit: int
) -> tuple[list[Yield], list[Session]]:
    waits = Yield.objects.filter(workspace=workspace, outcome__isnull=True, reason__in=sorted(PERSON_REASONS))
    if kinds:
        waits = waits.filter(kind__in=sorted(kinds))
    aside = Session.objects.filter(workspace=workspace, attention__isnull=False)
    undated = waits.filter(deadline_at__isnull=True)
    parts = [waits]
    if deadline is not None:
        # The first condition is the second's, in a form that the index can begin at.
        later = waits.filter(deadline_at__gte=deadline)
        parts = [later.filter(Q(deadline_at__gt=deadline) | Q(deadline_at=deadline, pk__gt=place)), undated]
    elif place is not None:
        parts, aside = [undated.filter(pk__gt=place)], aside.filter(pk__gt=place)
    rows: list[Yield] = []
    for part in parts if set(kinds) != {ATTENTION} else ():
        # Nulls last is how the index yield_inbox is ordered; written out, no other index can serve the order.
        rows += part.order_by(F("deadline_at").asc(nulls_last=True), "pk")[: limit - len(rows)]
        if len(rows) == limit:
            break
    if len(rows) == limit and rows[-1].deadline_at is not None:
        return rows, []
    return rows, list(aside.order_by("pk")[:limit]) if not kinds or ATTENTION in kinds else []


def _items(rows: list[Yield | Session]) -> list[dict[str, Any]]:
    ids = {row.pk if isinstance(row, Session) else row.session_id for row in rows}
    sessions = Session.objects.select_related("text", "version__agent").defer(
        "text__input", "text__output", "text__metadata", "version__definition"
    )
    known = sessions.in_bulk(ids)
    waits = {wait["id"]: wait for wait in yield_documents(row for row in rows if isinstance(row, Yield))}
    return [
        _aside(known[row.pk]) if isinstance(row, Session) else _wait(waits[str(row.pk)], known[row.session_id])
        for row in rows
        if (row.pk if isinstance(row, Session) else row.session_id) in known
    ]


def _wait(wait: dict[str, Any], session: Session) -> dict[str, Any]:
    return {
        "id": wait["id"],
        "kind": wait["kind"],
        "reason": wait["reason"],
        "session": _session(session),
        "summary": summary_of(wait),
        "wait": wait,
        "attention": None,
        "opened_at": wait["opened_at"],
        "deadline_at": wait["deadline_at"],
    }


def _aside(session: Session) -> dict[str, Any]:
    attention = session.attention or {}
    return {
        "id": str(session.pk),
        "kind": ATTENTION,
        "reason": ATTENTION,
        "session": _session(session),
        "summary": str(attention.get("message", "")),
        "wait": None,
        "attention": session.attention,
        "opened_at": datetime.fromisoformat(attention["since"]) if "since" in attention else session.created_at,
        "deadline_at": None,
    }


def _session(session: Session) -> dict[str, Any]:
    return {
        "id": str(session.pk),
        "title": session.text.title,
        "state": session.state,
        "agent": session.version.agent.slug,
        "version": session.version.number,
    }


def _cursor(row: Yield | Session) -> str:
    deadline = row.deadline_at.isoformat() if isinstance(row, Yield) and row.deadline_at else None
    return cursor_of(deadline, str(row.pk))


def _place(cursor: str | None) -> tuple[datetime | None, UUID | None]:
    if not cursor:
        return None, None
    deadline, text = parts_of(cursor, (str, type(None)), str)
    place = parse_id(text)
    try:
        at = None if deadline is None else datetime.fromisoformat(deadline)
    except ValueError:
        place = None
    if place is None or (at is not None and at.tzinfo is None):
        raise Invalid("cursor: this is not a cursor of this list. Start without one.")
    return at, place
