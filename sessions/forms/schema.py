"""A JSON Schema as fields that a person fills in, and the answer those fields make.

Lives here: `fields_of` and `Field.read`. May not: decide whether an answer fits (`sessions.tools.answers` does that,
with the same words for every door). Invariants: a schema this can't show as fields becomes one field for JSON, so
every question can be answered; what is left blank is not sent, nothing is preselected; a field's name on the form is a
number, so that no property's name can pass for another field of the page.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sessions.present.display import one_line, visible
from sessions.tools.wording import place
from workspaces.errors import Invalid
from workspaces.values import MAX_DIGITS, canonical, parse_json

_WHOLE = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
# With one of these at the root, properties alone don't say what the answer is.
_COMPOSED = ("$ref", "anyOf", "oneOf", "allOf", "not", "if", "enum", "const")
_LONG_TEXT = 200


@dataclass(frozen=True)
class Choice:
    """One value of an enumeration. `value` is what the form sends, `means` what it stands for."""

    value: str
    label: str
    means: Any = None


class Missing(Exception):
    """Nothing was entered."""


@dataclass
class Field:
    """One field of `_field.html`. `key` is the property it fills, None for the whole answer."""

    name: str
    key: str | None
    label: str
    kind: str
    required: bool = True
    help: str = ""
    nullable: bool = False
    choices: list[Choice] = field(default_factory=list)
    min: Any = None
    max: Any = None
    placeholder: str = ""
    value: str = ""
    error: str = ""

    @property
    def place(self) -> str:
        """Where its value stands in the answer, as the errors of a schema name it."""
        return "" if self.key is None else place([self.key])

    def read(self, text: str) -> Any:
        """*text* as the value it stands for. Raises Missing where it is blank, Invalid with words for the person."""
        self.value = text = text.replace("\r\n", "\n")
        if not text.strip():
            if self.required and self.nullable:
                return None
            if self.required and self.kind == "strings":
                return []
            raise Missing
        return getattr(self, f"_{self.kind}")(text)

    def _string(self, text: str) -> str:
        return text

    def _text(self, text: str) -> str:
        return text

    def _integer(self, text: str) -> int:
        text = text.strip()
        if not _WHOLE.fullmatch(text):
            raise Invalid("Write a whole number.")
        if len(text) > MAX_DIGITS:
            raise Invalid(f"At most {MAX_DIGITS} digits are taken.")
        return int(text)

    def _number(self, text: str) -> int | float:
        text = text.strip()
        if _WHOLE.fullmatch(text):
            return self._integer(text)
        if not _NUMBER.fullmatch(text):
            raise Invalid("Write a number, such as 12.5, with a point.")
        number = float(text)
        if number in (float("inf"), float("-inf")):
            raise Invalid("This number is too large.")
        return number

    def _boolean(self, text: str) -> bool:
        if text not in ("true", "false"):
            raise Invalid("Choose yes or no.")
        return text == "true"

    def _enum(self, text: str) -> Any:
        for choice in self.choices:
            if choice.value == text:
                return choice.means
        raise Invalid("Choose one of the values.")

    def _strings(self, text: str) -> list[str]:
        return [line.strip() for line in text.split("\n") if line.strip()]

    def _json(self, text: str) -> Any:
        return parse_json(text)


def fields_of(schema: Any) -> list[Field]:
    """The fields for *schema*, the required ones first: one per property of an object, else one for the whole."""
    properties = _properties(schema)
    if properties is None:
        return [_field("f0", None, schema, True, "Your answer")]
    required = [name for name in schema.get("required", []) if isinstance(name, str)]
    names = [n for n in properties if n in required] + [n for n in required if n not in properties]
    names += [n for n in properties if n not in required]
    return [
        _field(f"f{number}", name, properties.get(name, True), name in required, name)
        for number, name in enumerate(dict.fromkeys(names))
    ]


def answer_of(fields: list[Field], values: Mapping[str, Any]) -> Any:
    """The answer that the read *values* (by the fields' names) make."""
    if len(fields) == 1 and fields[0].key is None:
        return values.get(fields[0].name)
    return {one.key: values[one.name] for one in fields if one.name in values}


def _properties(schema: Any) -> Mapping[str, Any] | None:
    if not isinstance(schema, Mapping) or any(word in schema for word in _COMPOSED):
        return None
    properties = schema.get("properties")
    if schema.get("type", "object") != "object" or not isinstance(properties, Mapping) or not properties:
        return None
    return properties


def _field(name: str, key: str | None, schema: Any, required: bool, label: str) -> Field:
    schema = schema if isinstance(schema, Mapping) else {}
    schema, nullable = _without_null(schema)
    title, words = schema.get("title"), schema.get("description")
    kind, choices = _kind(schema)
    example = next((e for e in [*_listed(schema.get("examples")), schema.get("default")] if e is not None), None)
    return Field(
        name=name,
        key=key,
        label=one_line(title if isinstance(title, str) and title.strip() else label, 200),
        kind=kind,
        required=required,
        help=_sentence(visible(words)[:1000]) if isinstance(words, str) else "",
        nullable=nullable,
        choices=choices,
        min=_bound(schema, "minimum") if kind in ("integer", "number") else None,
        max=_bound(schema, "maximum") if kind in ("integer", "number") else None,
        placeholder="" if example is None or kind == "enum" else one_line(_shown(example), 80),
    )


def _kind(schema: Mapping[str, Any]) -> tuple[str, list[Choice]]:
    if choices := _choices(schema):
        return "enum", choices
    if any(word in schema for word in ("$ref", "anyOf", "oneOf", "allOf")):
        return "json", []
    match schema.get("type"):
        case "string":
            longest, shortest = schema.get("maxLength"), schema.get("minLength")
            long = any(isinstance(n, int) and n > _LONG_TEXT for n in (longest, shortest))
            return ("text" if long else "string"), []
        case "integer" | "number" | "boolean" as kind:
            return kind, []
        case "array" if isinstance(items := schema.get("items"), Mapping) and items.get("type") == "string":
            return "strings", []
    return "json", []


def _choices(schema: Mapping[str, Any]) -> list[Choice]:
    """The values of `enum`, `const`, or of alternatives that are one constant each (with titles as labels)."""
    pairs: list[tuple[Any, Any]] = []
    if "const" in schema:
        pairs = [(schema["const"], None)]
    elif isinstance(schema.get("enum"), list):
        pairs = [(value, None) for value in schema["enum"]]
    else:
        ways = _listed(schema.get("oneOf")) or _listed(schema.get("anyOf"))
        if ways and all(isinstance(way, Mapping) and "const" in way for way in ways):
            pairs = [(way["const"], way.get("title")) for way in ways]
    return [
        Choice(str(number), one_line(label if isinstance(label, str) and label.strip() else _shown(value), 200), value)
        for number, (value, label) in enumerate(pairs)
    ]


def _without_null(schema: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
    """(*schema* without the alternative null, whether it had one): "may be left empty" is how a person says null."""
    kinds = schema.get("type")
    if isinstance(kinds, list) and "null" in kinds:
        rest = [kind for kind in kinds if kind != "null"]
        return {**schema, "type": rest[0] if len(rest) == 1 else rest}, True
    for word in ("anyOf", "oneOf"):
        ways = _listed(schema.get(word))
        rest = [way for way in ways if way != {"type": "null"}]
        if len(rest) == 1 and len(ways) == 2 and isinstance(rest[0], Mapping):
            return {**{k: v for k, v in schema.items() if k != word}, **rest[0]}, True
    return schema, False


def _sentence(words: str) -> str:
    """*words* with a full stop: what the field adds (its bounds) stands behind it."""
    words = words.strip()
    return words if not words or words[-1] in ".!?:…" else f"{words}."


def _bound(schema: Mapping[str, Any], name: str) -> Any:
    value = schema.get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else canonical(value)
