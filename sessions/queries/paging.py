"""Keyset pages: a bounded list and the opaque cursors to what comes after and before it. No offsets, no counts."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from workspaces.errors import Invalid

T = TypeVar("T")

MAX_LIMIT = 200
MAX_CURSOR = 500


@dataclass(frozen=True)
class Page(Generic[T]):
    """One page. `next_cursor` leads on in the list's order, `previous_cursor` back; None: there is nothing there."""

    items: list[T]
    next_cursor: str | None = None
    previous_cursor: str | None = None

    def as_json(self) -> dict[str, Any]:
        """SPEC 14's page: `{items, next_cursor}`, and `previous_cursor` beside it."""
        return {"items": self.items, "next_cursor": self.next_cursor, "previous_cursor": self.previous_cursor}


def bounded(limit: int, most: int = MAX_LIMIT) -> int:
    """*limit* within 1 and *most*: a list's length is the server's decision in the end."""
    return max(1, min(limit, most))


def cursor_of(*parts: Any) -> str:
    """A cursor that holds *parts* (JSON values)."""
    return urlsafe_b64encode(json.dumps(parts, separators=(",", ":")).encode()).decode().rstrip("=")


def parts_of(cursor: str, *kinds: Any) -> list[Any]:
    """What `cursor_of` was given, each part an instance of its kind (None is of `type(None)`).

    Raises Invalid for anything this server cannot have given.
    """
    try:
        if len(cursor) > MAX_CURSOR:
            raise ValueError
        parts = json.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        if not isinstance(parts, list) or len(parts) != len(kinds):
            raise ValueError
        if not all(isinstance(part, kind) for part, kind in zip(parts, kinds, strict=True)):
            raise ValueError
    except (ValueError, RecursionError):
        raise Invalid("cursor: this is not a cursor of this list. Start without one.") from None
    return parts
