"""JSON values at the doors: what may be stored, what is put right, what is refused.

Lives here: canonical bytes, strict parsing, and the two treatments of what Postgres or a peer cannot hold: NUL, lone
surrogates, NaN and Infinity, integers over 4,000 digits, nesting deeper than 200.
May not: touch the database. Both treatments run before any transaction, because a failed statement would abort it.
Invariants: `require_clean(sanitise(v)[0])` never raises; `canonical` of equal values is equal text.
"""

import json
import math
from typing import Any, NoReturn

from workspaces.errors import Invalid

MAX_DEPTH = 200
MAX_DIGITS = 4000
_TOO_LONG = 10**MAX_DIGITS


def canonical(value: Any) -> str:
    """*value* as canonical JSON text: sorted keys, no spaces, not escaped to ASCII. Raises ValueError on NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def parse_json(text: str | bytes) -> Any:
    """*text* as JSON, strictly: NaN, Infinity, numbers that overflow, duplicate keys are refused. Raises Invalid.

    Characters that can't be stored are not looked at here: follow with `require_clean` or `sanitise`.
    """
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        return json.loads(
            text,
            object_pairs_hook=_without_duplicates,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            parse_int=_bounded,
        )
    except UnicodeDecodeError as error:
        raise Invalid(f"This is not UTF-8 text (byte {error.start}).") from None
    except json.JSONDecodeError as error:
        raise Invalid(f"This is not valid JSON: {error.msg} (line {error.lineno}, column {error.colno}).") from None
    except RecursionError:
        raise Invalid(f"This JSON is nested deeper than {MAX_DEPTH} levels.") from None


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise Invalid(f"This JSON has the key {json.dumps(key[:80])} twice in one object.")
        found[key] = value
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise Invalid(f"This JSON has {name}, which is not a JSON number.")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise Invalid(f"The number {digits[:40]} in this JSON is too large.")
    return number


def _bounded(digits: str) -> int:
    # Before int(): Python itself refuses above 4,300 digits, with words no reader understands.
    if len(digits.lstrip("-")) > MAX_DIGITS:
        raise Invalid(f"An integer in this JSON has more than {MAX_DIGITS} digits.")
    return int(digits)


def sanitise(value: Any) -> tuple[Any, bool]:
    """*value* with everything that can't be stored replaced visibly, and whether anything was.

    For what models and tools say: it must never be lost or fail, and a reader must see that it was changed.
    """
    return _sanitised(value, 0)


def _sanitised(value: Any, depth: int) -> tuple[Any, bool]:
    match value:
        case None | bool():
            return value, False
        case str():
            clean = clean_text(value)
            return clean, clean != value
        case int():
            return (value, False) if -_TOO_LONG < value < _TOO_LONG else ("[integer of over 4000 digits]", True)
        case float():
            return (value, False) if math.isfinite(value) else (_name_of(value), True)
    if depth >= MAX_DEPTH:
        return f"[nested deeper than {MAX_DEPTH} levels]", True
    match value:
        case dict():
            return _sanitised_object(value, depth)
        case list() | tuple():
            pairs = [_sanitised(item, depth + 1) for item in value]
            return [item for item, _ in pairs], any(changed for _, changed in pairs)
    return clean_text(str(value)), True


def _sanitised_object(value: dict[Any, Any], depth: int) -> tuple[dict[str, Any], bool]:
    result: dict[str, Any] = {}
    changed = False
    for key, item in value.items():
        name = clean_text(key if isinstance(key, str) else str(key))
        changed = changed or name != key
        # Two keys may become one by the replacement; neither value may vanish.
        while name in result:
            name, changed = name + "_", True
        result[name], inner = _sanitised(item, depth + 1)
        changed = changed or inner
    return result, changed


def clean_text(text: str) -> str:
    """*text* with NUL shown as U+2400 and every lone surrogate as U+FFFD."""
    if "\x00" in text:
        text = text.replace("\x00", "\u2400")
    return text if _encodes(text) else "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)


def _encodes(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _name_of(number: float) -> str:
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def require_clean(value: Any, field: str = "") -> None:
    """Raise Invalid, naming the place below *field*, if *value* holds something that can't be stored.

    For what people and callers send: they can correct it, so nothing is changed behind their back.
    """
    _require(value, field, 0)


def _require(value: Any, where: str, depth: int) -> None:
    match value:
        case None | bool():
            return
        case str():
            if "\x00" in value:
                _refuse(where, "a NUL character")
            if not _encodes(value):
                _refuse(where, "half of a surrogate pair")
            return
        case int():
            if not -_TOO_LONG < value < _TOO_LONG:
                _refuse(where, f"an integer of more than {MAX_DIGITS} digits")
            return
        case float():
            if not math.isfinite(value):
                _refuse(where, _name_of(value))
            return
    if depth >= MAX_DEPTH:
        raise Invalid(f"{_shown(where[:60])} is nested deeper than {MAX_DEPTH} levels.")
    match value:
        case dict():
            for key, item in value.items():
                if not isinstance(key, str):
                    _refuse(where, "a key that is not text")
                _require(key, f"A key of {where}" if where else "A key", depth)
                _require(item, f"{where}.{key}" if where else key, depth + 1)
        case list() | tuple():
            for number, item in enumerate(value):
                _require(item, f"{where}[{number}]", depth + 1)
        case _:
            _refuse(where, f"a {type(value).__name__}, which JSON does not have")


def _shown(where: str) -> str:
    return clean_text(where) or "The value"


def _refuse(where: str, what: str) -> NoReturn:
    raise Invalid(f"{_shown(where)[:200]} holds {what}, which can't be stored.")
