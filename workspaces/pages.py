"""Cursor pages of the API over lists that are read whole: members, tokens, the files of one folder.

Lives here: the page {items, next_cursor} and its opaque cursor. Longer lists (sessions, journals) page in queries.
"""

import base64
import binascii
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from workspaces.errors import Invalid

T = TypeVar("T")
DEFAULT_LIMIT = 100
MAX_LIMIT = 1000


def page(
    found: Iterable[T], key: Callable[[T], str], show: Callable[[T], dict[str, Any]], cursor: str | None, limit: int
) -> dict[str, Any]:
    """The items after *cursor* in the order of *key*, which is unique; at most *limit* (1..1000). Raises Invalid."""
    if not 1 <= limit <= MAX_LIMIT:
        raise Invalid(f"limit is between 1 and {MAX_LIMIT}.")
    after = _decoded(cursor) if cursor else None
    left = sorted((item for item in found if after is None or key(item) > after), key=key)
    more = len(left) > limit
    return {
        "items": [show(item) for item in left[:limit]],
        "next_cursor": _encoded(key(left[limit - 1])) if more else None,
    }


def _encoded(key: str) -> str:
    return base64.urlsafe_b64encode(key.encode("utf-8")).decode("ascii")


def _decoded(cursor: str) -> str:
    try:
        return base64.b64decode(cursor, altchars=b"-_", validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        raise Invalid("This cursor is not one that was given out.") from None
