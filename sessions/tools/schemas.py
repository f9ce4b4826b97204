"""JSON Schema (draft 2020-12) over values and schemas that nobody vouches for: a model's, a caller's, a tool server's.

Lives here: the one validator of tool arguments and of answers, on the library `jsonschema`.
May not: fetch anything, or use an engine that backtracks.
Invariants:
- no reference leaves the schema: only `#…` is followed, and only to a place that was itself checked;
- patterns run on RE2, in linear time and bounded memory;
- the work of one check is bounded (`BUDGET`), so schemas that multiply by references or alternatives end in a clear
  refusal after about a second at worst, not in a hung worker; so does a schema that refers to itself for ever;
- `$schema` and `$id` change nothing: a sub-schema that named another draft would leave this validator for a stock one.

Not supported, and refused when a schema is given: `$dynamicRef`, `unevaluatedItems`, `unevaluatedProperties`, and
patterns that RE2 has not (look-around, back-references). `format` is a note, as the draft has it.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from typing import Any

import re2
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from sessions.tools.wording import broken, place, shown
from workspaces.values import canonical

BUDGET = 100_000  # about 8 µs each
MAX_PATTERN = 200
MAX_DEPTH = 40
MAX_BYTES = 256 * 1024
MAX_NODES = 5_000
_PATTERN_MEMORY = 1024 * 1024
_UNSUPPORTED = ("$dynamicRef", "unevaluatedItems", "unevaluatedProperties")

Problem = tuple[str, str]


class UnusableError(Exception):
    """A schema that can't be used; the text says why, for whoever gave it."""


class UncheckedError(Exception):
    """A check that was given up: too much work for one value, or endless references."""


# -- the validator -----------------------------------------------------------------------------------------------

_left: ContextVar[list[int]] = ContextVar("layby_schema_budget")

# Keywords that walk over the whole value, not only over their own list.
_WALKERS = frozenset(
    {"items", "contains", "uniqueItems", "additionalProperties", "patternProperties", "propertyNames", "prefixItems"}
)


def _spend(units: int) -> None:
    left = _left.get()
    left[0] -= units
    if left[0] < 0:
        raise UncheckedError("it takes too much work to check")


def _counted(name: str, keyword: Callable[..., Any]) -> Callable[..., Iterator[ValidationError]]:
    walks = name in _WALKERS

    def check(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        sized = len(value) if isinstance(value, list | dict) else 0
        _spend(1 + sized + (len(instance) if walks and isinstance(instance, list | dict) else 0))
        for error in keyword(validator, value, instance, schema) or ():
            if not error.schema_path:
                # New here: the library has just written the whole value into its text. That was work as well.
                _spend(len(error.message) // 100)
                error.message = ""
            yield error

    return check


@lru_cache(maxsize=512)
def _pattern(text: str) -> Any:
    options = re2.Options()
    options.max_mem = _PATTERN_MEMORY
    options.log_errors = False
    return re2.compile(text, options)


def _matches(pattern: str, text: str) -> bool:
    compiled = _pattern(pattern)
    # What RE2 promises is time in proportion to text times pattern: 6 ns a step where its fast engine gives up.
    _spend(1 + len(text) * compiled.programsize // 1500)
    return compiled.search(text) is not None


def _check_pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not _matches(pattern, instance):
        yield ValidationError("")


def _check_pattern_properties(validator: Any, patterns: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    for pattern, inner in patterns.items():
        for key, item in instance.items():
            if _matches(pattern, key):
                yield from validator.descend(item, inner, path=key, schema_path=pattern)


def _check_additional(validator: Any, allowed: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for key, item in instance.items():
        if key in named or any(_matches(pattern, key) for pattern in patterns):
            continue
        if allowed is False:
            yield ValidationError("", path=[key])
        else:
            yield from validator.descend(item, allowed, path=key)


def _check_required(validator: Any, names: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        # The path leads to the field that is missing: that is where a reader looks.
        yield from (ValidationError("", path=[name]) for name in names if name not in instance)


def _check_unique(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    # By text, in linear time: the library compares each with each. 1 and 1.0 are the same number in JSON.
    if wanted and isinstance(instance, list):
        texts = [canonical(_as_json_number(item)) for item in instance]
        _spend(sum(map(len, texts)) // 100)
        if len(set(texts)) < len(texts):
            yield ValidationError("")


def _as_json_number(value: Any) -> Any:
    match value:
        case float() if value.is_integer():
            return int(value)
        case list():
            return [_as_json_number(item) for item in value]
        case dict():
            return {key: _as_json_number(item) for key, item in value.items()}
    return value


def _check_multiple(validator: Any, step: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    # Exact, as written: 0.3 is a multiple of 0.1, and no integer is too large to divide.
    is_number = isinstance(instance, int | float) and not isinstance(instance, bool)
    if is_number and Fraction(repr(instance)) % Fraction(repr(step)):
        yield ValidationError("")


_OWN = {
    "pattern": _check_pattern,
    "patternProperties": _check_pattern_properties,
    "additionalProperties": _check_additional,
    "required": _check_required,
    "uniqueItems": _check_unique,
    "multipleOf": _check_multiple,
}
_KEYWORDS: dict[str, Any] = {**Draft202012Validator.VALIDATORS, **_OWN}
_extended: Any = extend
_Validator: Any = _extended(
    Draft202012Validator, {name: _counted(name, keyword) for name, keyword in _KEYWORDS.items()}
)
# For typed functions: an integer is written as one. 5.0 would arrive as a float, 1e30 as another number than was said.
_ExactValidator: Any = _extended(
    _Validator,
    type_checker=_Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    ),
)


# -- schemas -----------------------------------------------------------------------------------------------------


def prepared(schema: Any, *, max_bytes: int = MAX_BYTES, max_nodes: int = MAX_NODES) -> str:
    """*schema* as the text that `problems` takes, once it is known to be usable; raises UnusableError saying why not.

    Bounds: *max_bytes* of canonical text, *max_nodes* lists and objects in it, 40 levels.
    """
    if not isinstance(schema, Mapping | bool):
        raise UnusableError(f"A JSON Schema is an object, not {shown(schema)}.")
    try:
        text = canonical(schema)
    except (ValueError, TypeError, RecursionError) as error:
        raise UnusableError(f"This is not JSON: {shown(str(error))}.") from None
    if len(text.encode("utf-8", "replace")) > max_bytes:
        raise UnusableError(f"The schema is longer than {max_bytes} bytes.")
    _measure(schema, max_nodes)
    _compiled(text, False)
    return text


def _measure(schema: Any, max_nodes: int) -> None:
    nodes, layer = 0, [schema]
    for _ in range(MAX_DEPTH):
        layer = [node for node in layer if isinstance(node, Mapping | list)]
        nodes += len(layer)
        if nodes > max_nodes:
            raise UnusableError(f"The schema has more than {max_nodes} parts.")
        layer = [inner for node in layer for inner in (node.values() if isinstance(node, Mapping) else node)]
        if not layer:
            return
    raise UnusableError(f"The schema is nested deeper than {MAX_DEPTH} levels.")


@lru_cache(maxsize=512)
def _compiled(text: str, exact_integers: bool) -> Any:
    schema = json.loads(text)
    try:
        error = next(Draft202012Validator(Draft202012Validator.META_SCHEMA).iter_errors(schema), None)
    except RecursionError:
        raise UnusableError("The schema is nested too deep.") from None
    if error is not None:
        where, words = broken(error)
        raise UnusableError(f"This is not a JSON Schema: {place(where) or 'the schema'} {words}.")
    parts = list(_parts(schema))
    for part in parts:
        _check_part(part)
    validator = (_ExactValidator if exact_integers else _Validator)(schema, registry=Registry())
    _check_references(schema, parts)
    _try_out(validator)
    return validator


def _parts(schema: Any) -> Iterator[dict[str, Any]]:
    """*schema* and every schema in it, without the two keywords that would change how they are read."""
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            part.pop("$schema", None)
            part.pop("$id", None)
            yield part
            waiting.extend(DRAFT202012.subresources_of(part))


def _check_part(part: dict[str, Any]) -> None:
    for name in _UNSUPPORTED:
        if name in part:
            raise UnusableError(f"{name} is not supported.")
    own = [part["pattern"]] if "pattern" in part else []
    for pattern in [*own, *part.get("patternProperties", ())]:
        if len(pattern) > MAX_PATTERN:
            raise UnusableError(f"The pattern {shown(pattern)} is longer than {MAX_PATTERN} characters.")
        try:
            _pattern(pattern)
        except (re2.error, UnicodeError):
            raise UnusableError(
                f"The pattern {shown(pattern, MAX_PATTERN)} can't be used: it is broken, too large, or needs "
                "look-around or back-references, which are not supported."
            ) from None


def _check_references(schema: Any, parts: list[dict[str, Any]]) -> None:
    known = {id(part) for part in parts}
    resolver: Any = Registry().resolver_with_root(DRAFT202012.create_resource(schema))
    for part in parts:
        reference = part.get("$ref")
        if reference is None:
            continue
        if not reference.startswith("#"):
            raise UnusableError(f"The reference {shown(reference)} leads out of the schema: only #… is followed.")
        try:
            target = resolver.lookup(reference).contents
        except (Unresolvable, ValueError, TypeError, LookupError):
            target = None
        if not isinstance(target, bool) and id(target) not in known:
            raise UnusableError(f"The reference {shown(reference)} leads to no schema.")


def _try_out(validator: Any) -> None:
    """A schema that can't decide the simplest values would refuse every answer: better said now."""
    simplest: tuple[Any, ...] = (None, "", 0, [], {})
    for value in simplest:
        try:
            _errors(validator, value, 1)
        except UncheckedError as error:
            raise UnusableError(f"The schema can't be used: {error}.") from None


# -- values ------------------------------------------------------------------------------------------------------


def problems(text: str, value: Any, *, limit: int = 3, exact_integers: bool = False) -> tuple[list[Problem], bool]:
    """Up to *limit* pairs (place, words) in which *value* breaks the schema *text*, and whether there are more.

    *text* is what `prepared` gave, or any canonical JSON Schema. Raises UnusableError for the schema,
    UncheckedError for the value (too much work).
    """
    found = _errors(_compiled(text, exact_integers), value, limit + 1)
    pairs = [broken(error) for error in found]
    named = list(dict.fromkeys((place(where), words) for where, words in pairs))
    return named[:limit], len(named) > limit


def _errors(validator: Any, value: Any, limit: int) -> list[ValidationError]:
    token = _left.set([BUDGET])
    try:
        return list(islice(validator.iter_errors(value), limit))
    except RecursionError:
        raise UncheckedError("it is nested too deep, or its references go round for ever") from None
    finally:
        _left.reset(token)
