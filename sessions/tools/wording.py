"""How values, places and broken rules are put in words, for a model's tool result and for a person's form alike.

Lives here: pure functions from values to short text. May not: decide anything.
Invariants: every text is bounded, on one line, and holds no control, bidirectional or invisible format character
(what came from a model or a caller is shown as JSON with these escaped), so it can't pass for our own words.
"""

import json
from collections.abc import Iterable
from typing import Any

from jsonschema.exceptions import ValidationError

KINDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def shown(value: Any, limit: int = 80) -> str:
    """*value* as JSON of at most about *limit* characters, cut with an ellipsis, everything unprintable escaped."""
    if isinstance(value, str):
        text = json.dumps(value[:limit], ensure_ascii=False)
        return _visible(text if len(value) <= limit else f"{text[:-1]}…{text[-1]}")
    text = json.dumps(value, ensure_ascii=False, default=str)
    return _visible(text if len(text) <= limit else f"{text[:limit]}…")


def excerpt(text: str, limit: int = 200) -> str:
    """The beginning of *text* as it is, for text that is JSON itself; everything unprintable escaped."""
    return _visible(text[:limit]) + ("…" if len(text) > limit else "")


def _visible(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def listed(names: Iterable[str], limit: int = 2000) -> str:
    """*names* after commas, with how many were left out once *limit* characters are reached."""
    names = list(names)
    used, kept = 0, []
    for name in names:
        used += len(name) + 2
        if used > limit:
            break
        kept.append(name)
    left = len(names) - len(kept)
    return ", ".join(kept) + (f" and {left} more" if left else "")


def place(path: Iterable[str | int]) -> str:
    """*path* as `rows[0].name`; empty for the whole value. Keys that are not plain words are quoted."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part.isidentifier() and part.isascii() and len(part) <= 80:
            text += f".{part}" if text else part
        else:
            text += f"[{shown(part)}]"
    return text if len(text) <= 300 else f"{text[:300]}…"


def broken(error: ValidationError) -> tuple[list[str | int], str]:
    """Where (from the value's root) and in what words *error* breaks its schema."""
    where = list(error.absolute_path)
    # The library's types have an "unset" for an error that was not raised by a keyword; these all were.
    rule: Any = error.validator
    bound: Any = error.validator_value
    value: Any = error.instance
    match rule:
        case "type":
            return where, f"must be {_kinds(bound)}, not {shown(value)}"
        case "required":
            return where, "is missing"
        case "additionalProperties":
            return where, "is not a known field"
        case "enum":
            return where, f"must be one of {listed((shown(choice) for choice in bound), 400)}, not {shown(value)}"
        case "const":
            return where, f"must be {shown(bound)}, not {shown(value)}"
        case "minLength" | "maxLength":
            return where, f"must have at {_most(rule)} {_count(bound, 'character')}, has {len(value)}"
        case "minItems" | "maxItems":
            return where, f"must have at {_most(rule)} {_count(bound, 'item')}, has {len(value)}"
        case "minProperties" | "maxProperties":
            return where, f"must have at {_most(rule)} {_count(bound, 'field')}, has {len(value)}"
        case "minimum" | "maximum":
            return where, f"must be at {_most(rule)} {shown(bound)}, not {shown(value)}"
        case "exclusiveMinimum":
            return where, f"must be above {shown(bound)}, not {shown(value)}"
        case "exclusiveMaximum":
            return where, f"must be below {shown(bound)}, not {shown(value)}"
        case "multipleOf":
            return where, f"must be a multiple of {shown(bound)}, not {shown(value)}"
        case "pattern":
            return where, f"must match the pattern {shown(bound, 200)}, not {shown(value)}"
        case "uniqueItems":
            return where, "must not hold the same item twice"
        case "anyOf" | "oneOf" if error.context:
            return _nearest(error, where)
        case None:
            return where, "is not allowed"
    return where, f"does not fit {shown(rule)}: {shown(bound)}"


def _nearest(error: ValidationError, where: list[str | int]) -> tuple[list[str | int], str]:
    """The words of the one alternative that was meant: of those whose type fits, the first."""
    branches: dict[Any, list[ValidationError]] = {}
    for inner in error.context:
        branches.setdefault(inner.relative_schema_path[0], []).append(inner)
    mistyped = [b[0] for b in branches.values() if b[0].validator == "type" and not b[0].relative_path]
    meant = [b[0] for b in branches.values() if b[0] not in mistyped]
    if len(meant) == 1 or (meant and mistyped):
        return broken(meant[0])
    if mistyped and not meant:
        kinds = [k for e in mistyped for k in ([e.validator_value] if isinstance(e.validator_value, str) else [])]
        return where, f"must be {_kinds(kinds)}, not {shown(error.instance)}"
    return where, f"fits none of the {len(branches)} allowed forms: {shown(error.instance)}"


def _kinds(bound: str | list[str]) -> str:
    names = [bound] if isinstance(bound, str) else bound
    return " or ".join(dict.fromkeys(KINDS.get(name, shown(name)) for name in names))


def _most(rule: str) -> str:
    return "least" if rule.startswith("min") else "most"


def _count(number: Any, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
