"""The conversation and the journal of a session, as lists that go on by their numbers.

An assistant message with k calls at n owns the numbers n..n+k: the result of the call at position p has n+1+p. A number
that is not there yet belongs to a call without a result.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from sessions.models import Call, Frame, JournalEntry, Message, Session, Steer
from sessions.queries.documents import loaded
from sessions.queries.paging import Page, bounded, cursor_of, parts_of
from workspaces.errors import Invalid

MAX_MESSAGES = 500
MAX_ENTRIES = 1000
MAX_NUMBER = 2**62


@dataclass(frozen=True)
class MessageItem:
    """SPEC 14's message. `role` is user, assistant or tool; `tool_call_id` is our call id, on tool messages only.

    `calls` (assistant): `{id, tool, arguments, status}` in the model's order.
    `tool`, `status` (tool): which tool it was and how its call ended.
    """

    seq: int
    role: str
    text: str
    at: datetime | None
    calls: list[dict[str, Any]] = field(default_factory=list)
    tool_call_id: str | None = None
    tool: str | None = None
    status: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The item as a document."""
        return asdict(self)


def conversation(
    session: Session, *, after: int = 0, before: int | None = None, limit: int | None = None, newest: bool = False
) -> list[MessageItem]:
    """What was said in *session*'s own frame, oldest first. Three statements.

    `after`, `before`: only numbers between the two (both excluded). `limit`: at most so many messages with their
    results (the results are not counted), the oldest of them or, with `newest`, the newest; None: all.
    """
    frame = Frame.objects.filter(session=session, path="0").values_list("pk", flat=True).first()
    if frame is None:
        return []
    found = Message.objects.filter(frame=frame)
    if after > 0:
        # The message before may have results beyond the number.
        owner = Message.objects.filter(frame=frame, n__lte=after).order_by("-n").values("n")[:1]
        found = found.filter(n__gte=owner)
    if before is not None:
        found = found.filter(n__lt=before)
    messages = list(found.order_by("-n" if newest else "n")[:limit])
    if newest:
        messages.reverse()
    return [item for item in _items(frame, messages) if item.seq > after and (before is None or item.seq < before)]


def message_page(session: Session, *, after: int = 0, cursor: str | None = None, limit: int = 200) -> Page[MessageItem]:
    """A page of the conversation, oldest first; its cursor leads to what was said later. `limit`: 1 to 500 messages.

    Raises Invalid.
    """
    if cursor:
        (after,) = parts_of(cursor, int)
    after, limit = _number("after", after), bounded(limit, MAX_MESSAGES)
    items = conversation(session, after=after, limit=limit + 2)  # one may be only the owner of results
    heads = [number for number, item in enumerate(items) if item.role != "tool"]
    if len(heads) <= limit:
        return Page(items)
    items = items[: heads[limit]]
    return Page(items, next_cursor=cursor_of(items[-1].seq))


def _items(frame: UUID, messages: Sequence[Message]) -> list[MessageItem]:
    turns = [message.turn for message in messages if message.role == "assistant"]
    calls: dict[int, list[Call]] = {}
    if turns:
        found = Call.objects.filter(frame=frame, turn__gte=min(turns), turn__lte=max(turns))
        for call in found.order_by("turn", "position"):
            calls.setdefault(call.turn, []).append(call)
    items = []
    for message in messages:
        mine = calls.get(message.turn, []) if message.role == "assistant" else []
        text = str(loaded(message.body, {}).get("text", ""))
        asked = [
            {"id": str(call.pk), "tool": call.tool, "arguments": loaded(call.arguments), "status": call.status}
            for call in mine
        ]
        items.append(MessageItem(message.n, message.role, text, message.created_at, asked))
        items += [
            MessageItem(
                message.n + 1 + call.position,
                "tool",
                call.result,
                call.ended_at,
                [],
                str(call.pk),
                call.tool,
                call.status,
            )
            for call in mine
            if call.result is not None
        ]
    return items


@dataclass(frozen=True)
class QueuedMessage:
    """What a person sent for the next turn and the agent has not read yet. `by` is an actor."""

    id: str
    text: str
    by: dict[str, Any]
    at: datetime


def queued_messages(session: Session) -> list[QueuedMessage]:
    """The messages that wait for the next turn, oldest first."""
    waiting = Steer.objects.filter(session=session, taken_at__isnull=True).order_by("pk")
    return [QueuedMessage(str(steer.pk), steer.text, steer.by, steer.at) for steer in waiting]


@dataclass(frozen=True)
class JournalItem:
    """SPEC 14's journal entry. `data` is a JSON value, `actor` `{kind, id, name, by?}`."""

    seq: int
    kind: str
    at: datetime
    actor: dict[str, Any]
    data: Any

    def as_json(self) -> dict[str, Any]:
        """The entry as a document."""
        return asdict(self)


def journal_after(session_id: UUID, after: int = 0, limit: int = 200) -> list[JournalItem]:
    """The entries with numbers above *after*, in order; at most *limit* (1 to 1000)."""
    found = JournalEntry.objects.filter(session_id=session_id, seq__gt=after).order_by("seq")
    return [_entry(entry) for entry in found[: bounded(limit, MAX_ENTRIES)]]


def journal_before(session_id: UUID, before: int | None = None, limit: int = 200) -> list[JournalItem]:
    """The newest *limit* entries with numbers below *before* (None: of all), in order."""
    found = JournalEntry.objects.filter(session_id=session_id)
    if before is not None:
        found = found.filter(seq__lt=before)
    return [_entry(entry) for entry in found.order_by("-seq")[: bounded(limit, MAX_ENTRIES)]][::-1]


def journal_page(session: Session, *, after: int = 0, cursor: str | None = None, limit: int = 200) -> Page[JournalItem]:
    """A page of the journal from *after* on (excluded). `limit`: 1 to 1000. Raises Invalid."""
    if cursor:
        (after,) = parts_of(cursor, int)
    after, limit = _number("after", after), bounded(limit, MAX_ENTRIES - 1)
    items = journal_after(session.pk, after, limit + 1)
    if len(items) <= limit:
        return Page(items)
    return Page(items[:limit], next_cursor=cursor_of(items[limit - 1].seq))


def _entry(entry: JournalEntry) -> JournalItem:
    return JournalItem(entry.seq, entry.kind, entry.at, entry.actor, loaded(entry.data, {}))


def _number(name: str, value: int) -> int:
    if not 0 <= value <= MAX_NUMBER:
        raise Invalid(f"{name}: a number from 0 on is expected.")
    return value
