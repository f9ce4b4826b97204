"""Where ids come from: UUIDv7, so that primary keys grow with time and stay close together in their index.

Lives here: the one function that makes an id. Invariant: an id made later sorts later (to the millisecond).
"""

import uuid

import uuid6


def new_id() -> uuid.UUID:
    """A fresh UUIDv7 as a plain `uuid.UUID` (the library's subclass trips serialisers)."""
    return uuid.UUID(int=uuid6.uuid7().int)


def parse_id(text: str) -> uuid.UUID | None:
    """The id in *text*, or None where it is not one: an id from outside that can't be parsed is simply not found."""
    try:
        return uuid.UUID(text)
    except (ValueError, AttributeError, TypeError):
        return None
