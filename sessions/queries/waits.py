"""The waits of one session, as documents."""

from typing import Any
from uuid import UUID

from django.db.models import Q

from sessions.models import Session, Yield
from sessions.queries.documents import QUESTION_KINDS, open_rows, text_of, yield_documents
from sessions.queries.paging import Page, bounded, cursor_of, parts_of
from workspaces.errors import Invalid
from workspaces.ids import parse_id

__all__ = ["all_waits", "closed_waits", "open_questions", "open_waits", "pending_document", "state_now", "wait_page"]


def open_waits(session: Session) -> list[dict[str, Any]]:
    """The open waits of *session*, oldest first. At most three statements."""
    return yield_documents(open_rows([session.pk]))


def closed_waits(session: Session, limit: int = 200) -> list[dict[str, Any]]:
    """The *limit* newest waits that have an outcome, oldest first."""
    found = Yield.objects.filter(session=session, outcome__isnull=False).order_by("-opened_at", "-pk")
    return yield_documents(list(found[: bounded(limit, 1000)])[::-1])


def all_waits(session: Session, limit: int = 200) -> list[dict[str, Any]]:
    """The waits of *session* in the order they were opened: the open ones and the *limit* newest closed ones."""
    found = [*closed_waits(session, limit), *open_waits(session)]
    return sorted(found, key=lambda wait: (wait["opened_at"], wait["id"]))


def wait_page(session: Session, *, cursor: str | None = None, limit: int = 50) -> Page[dict[str, Any]]:
    """A page of all waits: the open ones first (all of them, oldest first), then the closed ones, newest first.

    `limit` (1 to 200) counts the closed ones. Raises Invalid.
    """
    limit = bounded(limit)
    found = Yield.objects.filter(session=session, outcome__isnull=False).order_by("-opened_at", "-pk")
    if cursor:
        (text,) = parts_of(cursor, str)
        place = parse_id(text)
        mine = Yield.objects.filter(session=session)
        last = mine.filter(pk=place).values_list("opened_at", "pk").first() if place else None
        if last is None:
            raise Invalid("cursor: this is not a cursor of this list. Start without one.")
        found = found.filter(opened_at__lte=last[0])  # where the index begins
        found = found.filter(Q(opened_at__lt=last[0]) | Q(opened_at=last[0], pk__lt=last[1]))
    closed = list(found[: limit + 1])
    more, closed = len(closed) > limit, closed[:limit]
    rows = closed if cursor else [*open_rows([session.pk]), *closed]
    return Page(yield_documents(rows), next_cursor=cursor_of(str(closed[-1].pk)) if more else None)


def open_questions(session: Session) -> list[Yield]:
    """The open waits that `ask_user/respond` answers, oldest first. One statement."""
    return [wait for wait in open_rows([session.pk]) if wait.kind in QUESTION_KINDS]


def pending_document(wait: Yield) -> dict[str, Any]:
    """SPEC 14's pending question: `{yield, tool_call_id, prompt, questions, response_schema, parked_at, …}`."""
    shown = yield_documents([wait])[0]
    return {
        "yield": shown["id"],
        "tool_call_id": text_of(wait.call),
        "kind": shown["kind"],
        "prompt": shown["prompt"],
        "questions": shown["questions"],
        "response_schema": shown["response_schema"],
        "parked_at": shown["opened_at"],
        "deadline_at": shown["deadline_at"],
    }


def state_now(session_id: UUID) -> str:
    """The session's state at this moment. One statement."""
    return str(Session.objects.values_list("state", flat=True).get(pk=session_id))
