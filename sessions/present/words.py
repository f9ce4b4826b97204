"""Small words that many fragments share: who it was, how long it took. Pure."""

from collections.abc import Mapping
from typing import Any

from sessions.present.display import one_line


def name_of(actor: Mapping[str, Any] | None) -> str:
    """Who acted, as a reader knows them: the name, and in brackets whom a caller named. "" for nobody."""
    if not actor:
        return ""
    name = one_line(str(actor.get("name") or ""), 150) or "somebody"
    if actor.get("kind") == "token":
        name = f"{name} (API)"
    by = one_line(str(actor.get("by") or ""), 256)
    return f"{by} through {name}" if by else name


def is_person(actor: Mapping[str, Any] | None) -> bool:
    """Whether somebody acted, not the system."""
    return bool(actor) and actor is not None and actor.get("kind") != "system"


def span(seconds: float) -> str:
    """A length of time in one or two units: `4 ms`, `3.1 s`, `13 min 52 s`, `2 h 5 min`, `3 d 4 h`."""
    if seconds < 1:
        return f"{max(0, round(seconds * 1000))} ms"
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    whole = int(seconds)
    for size, name, below, small in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= size:
            rest = whole % size // below
            return f"{whole // size} {name} {rest} {small}" if rest else f"{whole // size} {name}"
    return f"{whole} s"


def size_of(count: int) -> str:
    """A number of bytes for a reader: `612 bytes`, `48 KB`, `1.2 MB`."""
    if count < 1024:
        return f"{count} byte{'' if count == 1 else 's'}"
    return f"{count / 1024:.0f} KB" if count < 1024 * 1024 else f"{count / 1024 / 1024:.1f} MB"
