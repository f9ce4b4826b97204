"""Patterns that people and models give: globs and regular expressions, matched in linear time.

Lives here: compiling them with RE2, which has no pattern that hangs (`(a+)+$` over 5,000 letters takes 0.1 ms).
May not: use the standard `re` on anything from outside.
"""

from typing import Protocol

import re2

from workspaces.errors import Invalid
from workspaces.values import require_clean

MAX_REGEX = 200
MAX_GLOB = 1000
_MEMORY = 4 * 1024 * 1024  # bytes one compiled pattern may use; a larger one is refused


class BadPattern(Invalid):
    """This pattern can't be used."""

    code = "bad_pattern"


class Pattern(Protocol):
    """What is used of a compiled pattern."""

    def search(self, text: str | bytes) -> object | None: ...
    def fullmatch(self, text: str | bytes) -> object | None: ...


def regex(pattern: str) -> Pattern:
    """*pattern* (1..200 characters, RE2's syntax) compiled. Raises BadPattern with what is wrong."""
    if not 1 <= len(pattern) <= MAX_REGEX:
        raise BadPattern(f"A pattern has 1 to {MAX_REGEX} characters.")
    require_clean(pattern, "pattern")
    return _compiled(pattern)


def glob(pattern: str) -> Pattern:
    """*pattern* as a full match of a path: `*` and `?` stay in one part, `**` is any number of parts, `[a-z]`, `[!a]`.

    Raises BadPattern.
    """
    if not 1 <= len(pattern) <= MAX_GLOB:
        raise BadPattern(f"A glob has 1 to {MAX_GLOB} characters.")
    require_clean(pattern, "glob")
    if pattern.startswith("/") or ".." in pattern.split("/"):
        raise BadPattern("A glob is relative to the workspace and does not lead upwards.")
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    pieces: list[str] = []
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        if part == "**":
            pieces.append(".+" if last else "(?:.+/)?")
        else:
            pieces.append(_part(part) + ("" if last else "/"))
    return _compiled("(?s)" + "".join(pieces))


def literal_start(pattern: str) -> str:
    """The folder in which every match of the glob *pattern* lies: its leading parts without wildcards."""
    parts = [part for part in pattern.split("/") if part not in ("", ".")][:-1]
    for number, part in enumerate(parts):
        if any(c in part for c in "*?["):
            return "/".join(parts[:number])
    return "/".join(parts)


def _part(part: str) -> str:
    pieces: list[str] = []
    at = 0
    while at < len(part):
        c = part[at]
        at += 1
        if c == "*":
            pieces.append("[^/]*")
        elif c == "?":
            pieces.append("[^/]")
        elif c == "[" and (end := part.find("]", at + (2 if part[at : at + 1] == "!" else 1))) > 0:
            inside = part[at:end]
            at = end + 1
            excluded = inside.startswith("!")
            inside = inside[1:] if excluded else inside
            inside = "".join(f"\\{c}" if c in "\\[]^&~" else c for c in inside)
            pieces.append(f"[^/{inside}]" if excluded else f"[{inside}]")
        else:
            pieces.append(re2.escape(c))
    return "".join(pieces)


def _compiled(expression: str) -> Pattern:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    try:
        compiled: Pattern = re2.compile(expression, options)
    except re2.error as error:
        reason = error.args[0] if error.args else "it is not valid"
        reason = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise BadPattern(f"This pattern can't be used: {reason[:200]}.") from None
    return compiled
