"""From a typed Python function to the JSON Schema of its arguments, and from arguments back to Python values.

Lives here: the mapping of annotations to JSON Schema, the reading of docstrings, and the converters for the few
annotations whose values are not JSON already (enums, dataclasses).
May not: look at arguments' validity (that is `arguments`), know what a tool is.
Invariants: the same function gives the same schema under every version of every library (a schema is sealed into
approvals, so nobody else's release may change it: this is why it is not left to one); what can't be said in JSON
Schema is refused when the module is imported, not when a model calls.

| annotation | schema |
|---|---|
| `str` `int` `float` `bool` `None` `Any` | string, integer, number, boolean, null, anything |
| `Literal[…]`, `Enum` | `enum` of the values |
| `list[T]`, `dict[str, T]` | array, object |
| `X \\| None`, `X \\| Y` | `anyOf` |
| `TypedDict`, dataclass | object with its fields, written out in place |
| `Annotated[T, MinLen, MaxLen, Ge, Gt, Le, Lt, "text"]` | T with bounds (of `annotated_types`) and description |
"""

import dataclasses
import inspect
import re
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from annotated_types import Ge, Gt, Le, Lt, MaxLen, MinLen

Schema = dict[str, Any]
Convert = Callable[[Any], Any]

_PLAIN: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    None: {"type": "null"},
    list: {"type": "array"},
    dict: {"type": "object"},
    Any: {},
}
_LENGTHS = {"string": ("minLength", "maxLength"), "array": ("minItems", "maxItems")}


@dataclass(frozen=True)
class Signature:
    """What a function says of itself: its description, its arguments' JSON Schema, and how they become Python."""

    description: str
    parameters: Schema
    bind: Callable[[Mapping[str, Any]], dict[str, Any]]


def read(function: Callable[..., Any]) -> Signature:
    """The signature of *function*, whose first parameter is the tool's context.

    Raises TypeError, naming the function and the parameter, if something has no annotation, no description or no
    JSON Schema, and if the docstring describes a parameter that is not there.
    """
    try:
        return _read(function)
    except TypeError as error:
        raise TypeError(f"{function.__module__}.{function.__qualname__}: {error}") from None


def _read(function: Callable[..., Any]) -> Signature:
    hints = get_type_hints(function, include_extras=True)
    parameters = list(inspect.signature(function).parameters.values())[1:]
    description, texts = docstring(function.__doc__ or "", [p.name for p in parameters])
    if not description:
        raise TypeError("the docstring is the description the model reads; there is none")
    properties: dict[str, Schema] = {}
    converters: dict[str, Convert | None] = {}
    required: list[str] = []
    for parameter in parameters:
        name = parameter.name
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"{name}: a tool can't take a variable number of arguments")
        if name not in hints:
            raise TypeError(f"{name} has no annotation")
        try:
            schema, converters[name] = schema_of(hints[name])
        except TypeError as error:
            raise TypeError(f"{name}: {error}") from None
        if name in texts:
            schema = {**schema, "description": texts[name]}
        if "description" not in schema:
            raise TypeError(f"{name} has no description")
        if parameter.default is parameter.empty:
            required.append(name)
        else:
            schema["default"] = _plain(parameter.default)
        properties[name] = schema
    return Signature(description, _fields(properties, required), _binder(converters))


def _binder(converters: dict[str, Convert | None]) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    def bind(arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {
            name: arguments[name] if convert is None else convert(arguments[name])
            for name, convert in converters.items()
            if name in arguments
        }

    return bind


def docstring(text: str, names: list[str]) -> tuple[str, dict[str, str]]:
    """*text*'s first paragraph, and what it says of each parameter of *names*.

    A parameter is described by a line `name: text`, under `Args:` or not; deeper lines below it go on with it.
    """
    lines = inspect.cleandoc(text).splitlines()
    first = lines.index("") if "" in lines else len(lines)
    texts: dict[str, str] = {}
    current, indent, listed = "", 0, False
    for line in lines[first:]:
        depth = len(line) - len(line.lstrip())
        found = re.match(r"\s*(\w+)\s*:\s*(.*)", line)
        if line.strip() in ("Args:", "Arguments:", "Parameters:"):
            listed, current = True, ""
        elif not line.strip():
            current = ""
        elif current and depth > indent:
            texts[current] = f"{texts[current]} {line.strip()}".strip()
        elif found and found[1] in names:
            current, indent = found[1], depth
            texts[current] = found[2].strip()
        elif found and listed and depth:
            raise TypeError(f"the docstring describes {found[1]}, which is no parameter")
        else:
            current, listed = "", listed and depth > 0
    return " ".join(" ".join(lines[:first]).split()), texts


def schema_of(annotation: Any) -> tuple[Schema, Convert | None]:
    """*annotation* as a JSON Schema, and what makes a JSON value into it (None: it is one). Raises TypeError."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin in (Required, NotRequired):
        return schema_of(args[0])
    if origin is Annotated:
        schema, convert = schema_of(args[0])
        for extra in args[1:]:
            schema = _bounded(schema, extra)
        return schema, convert
    if origin in (Union, types.UnionType):
        return _union(args)
    if origin is Literal:
        return _choices(list(args)), None
    if origin is list:
        items, convert = schema_of(args[0])
        return {"type": "array", "items": items}, _each(convert)
    if origin is dict:
        return _mapping(args)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return _choices([member.value for member in annotation]), annotation
    if is_typeddict(annotation):
        return _typed_dict(annotation)
    if isinstance(annotation, type) and dataclasses.is_dataclass(annotation):
        return _dataclass(annotation)
    try:
        return dict(_PLAIN[annotation]), None
    except (KeyError, TypeError):
        raise TypeError(f"{annotation!r} can't be said in JSON Schema") from None


def _bounded(schema: Schema, extra: Any) -> Schema:
    """*schema* with one more bound or a description. Raises TypeError for a bound that does not suit the type."""
    match extra:
        case str():
            return {**schema, "description": extra}
        case MinLen() | MaxLen() if schema.get("type") in _LENGTHS:
            lowest, highest = _LENGTHS[schema["type"]]
            if isinstance(extra, MinLen):
                return {**schema, lowest: extra.min_length}
            return {**schema, highest: extra.max_length}
        case Ge() | Gt() | Le() | Lt() if schema.get("type") in ("integer", "number"):
            names = {Ge: "minimum", Gt: "exclusiveMinimum", Le: "maximum", Lt: "exclusiveMaximum"}
            (value,) = dataclasses.astuple(extra)
            return {**schema, names[type(extra)]: value}
    raise TypeError(f"the bound {extra!r} does not suit {schema}")


def _union(args: tuple[Any, ...]) -> tuple[Schema, Convert | None]:
    pairs = [schema_of(arg) for arg in args]
    converters = [convert for _, convert in pairs if convert]
    if converters and not (len(args) == 2 and type(None) in args):
        raise TypeError("only None may stand beside a type that has to be made from JSON")
    schema = {"anyOf": [schema for schema, _ in pairs]}
    if not converters:
        return schema, None
    return schema, lambda value: None if value is None else converters[0](value)


def _choices(values: list[Any]) -> Schema:
    if values and all(isinstance(value, str) for value in values):
        return {"type": "string", "enum": values}
    if not all(isinstance(value, str | int | bool | None) for value in values):
        raise TypeError("only texts, whole numbers, booleans and null may be choices")
    return {"enum": values}


def _each(convert: Convert | None) -> Convert | None:
    return None if convert is None else lambda values: [convert(value) for value in values]


def _mapping(args: tuple[Any, ...]) -> tuple[Schema, Convert | None]:
    if args[0] is not str:
        raise TypeError("the keys of an object are texts in JSON")
    inner, convert = schema_of(args[1])
    schema: Schema = {"type": "object", "additionalProperties": inner} if inner else {"type": "object"}
    if convert is None:
        return schema, None
    return schema, lambda value: {key: convert(item) for key, item in value.items()}


def _typed_dict(annotation: Any) -> tuple[Schema, Convert | None]:
    hints = get_type_hints(annotation, include_extras=True)
    pairs = {name: schema_of(hint) for name, hint in hints.items()}
    if any(convert for _, convert in pairs.values()):
        raise TypeError(f"{annotation.__name__}: the fields of a TypedDict must be JSON values; use a dataclass")
    required = [name for name in hints if name in annotation.__required_keys__]
    return _fields({name: schema for name, (schema, _) in pairs.items()}, required), None


def _dataclass(annotation: type) -> tuple[Schema, Convert]:
    hints = get_type_hints(annotation, include_extras=True)
    properties: dict[str, Schema] = {}
    converters: dict[str, Convert | None] = {}
    required: list[str] = []
    for field in dataclasses.fields(annotation):
        schema, converters[field.name] = schema_of(hints[field.name])
        if field.default is not dataclasses.MISSING:
            schema["default"] = _plain(field.default)
        elif field.default_factory is dataclasses.MISSING:
            required.append(field.name)
        properties[field.name] = schema
    bind = _binder(converters)
    return _fields(properties, required), lambda value: annotation(**bind(value))


def _fields(properties: dict[str, Schema], required: list[str]) -> Schema:
    found: Schema = {"type": "object", "properties": properties}
    return {**found, "required": required} if required else found


def _plain(default: Any) -> Any:
    if isinstance(default, Enum):
        default = default.value
    if isinstance(default, str | int | float | bool | None):
        return default
    raise TypeError(f"the default {default!r} must be a plain JSON value")
