"""A call's arguments: from the raw text a model wrote to what the tool's body gets, or to words that say what is wrong.

Lives here: `parse`. May not: repair, guess or fill in anything; run a tool.
Invariants:
- what does not parse, is no object, or breaks the schema never becomes `{}` and never reaches a gate or a body;
- `text` is canonical and complete: `json.loads(text)` is `value`, with integers exact, so that a digest of the text
  is a digest of what runs (defaults are the function's own and are not written into it);
- nothing here raises for what a model wrote.

One text is read with goodwill: an empty one. OpenAI-compatible servers and Anthropic's stream send an empty string
for a call without arguments, so it counts as `{}`, but only for a tool that requires none.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sessions.contracts import Tool
from sessions.tools import schemas
from sessions.tools.wording import KINDS, excerpt
from workspaces.errors import Invalid
from workspaces.values import canonical, parse_json, sanitise

MAX_CHARACTERS = 8 * 1024 * 1024  # write_file's 1 MiB with every byte escaped is 6 MiB
_PREVIEW = 200
# A schema that says more about its fields elsewhere: nothing can be called unknown then.
_OPEN = ("allOf", "anyOf", "oneOf", "$ref", "if", "dependentSchemas", "patternProperties", "propertyNames", "not")


@dataclass(frozen=True)
class ParsedArguments:
    """Arguments that fit. `sanitised`: something in them could not be stored and was replaced visibly."""

    value: dict[str, Any]
    text: str
    sanitised: bool = False


@dataclass(frozen=True)
class BadArguments:
    """Arguments that do not fit; `message` is the result the model reads. The tool did not run."""

    message: str


def parse(tool: Tool, raw: str) -> ParsedArguments | BadArguments:
    """*raw* as arguments of *tool*. Unknown fields are dropped; up to three broken rules are named. Never raises."""
    if len(raw) > MAX_CHARACTERS:
        return _bad(tool, f"they are longer than {MAX_CHARACTERS} characters", raw)
    if not raw.strip() and not tool.parameters.get("required"):
        raw = "{}"
    try:
        given = parse_json(raw)
    except Invalid as error:
        return _bad(tool, error.message.rstrip("."), raw)
    if not isinstance(given, dict):
        return _bad(tool, f"they must be a JSON object, not {_kind(given)}", raw)
    clean, sanitised = sanitise(given)
    value = _known(tool.parameters, clean)
    try:
        found, more = schemas.problems(canonical(tool.parameters), value, exact_integers=True)
    except schemas.UnusableError as error:
        return BadArguments(f"The call of {tool.full_name} can't be checked, so it did not run. {error}")
    except schemas.UncheckedError as error:
        return BadArguments(f"The arguments of {tool.full_name} can't be checked, so it did not run: {error}.")
    if found:
        rules = "; ".join(f"{where or 'the arguments'}: {words}" for where, words in found)
        more_text = "; and more" if more else ""
        return BadArguments(f"The arguments of {tool.full_name} do not fit, so it did not run: {rules}{more_text}.")
    return ParsedArguments(value, canonical(value), sanitised)


def _bad(tool: Tool, what: str, raw: str) -> BadArguments:
    began = f" They began: {excerpt(raw, _PREVIEW)}" if raw.strip() else " They were empty."
    return BadArguments(f"The arguments of {tool.full_name} can't be read, so it did not run: {what}.{began}")


def _kind(value: Any) -> str:
    names = {str: "string", list: "array", bool: "boolean", type(None): "null"}
    return KINDS[names.get(type(value), "number")]


def _known(schema: Any, value: Any) -> Any:
    """*value* without the fields that *schema* does not know, at every level it speaks of."""
    if not isinstance(schema, Mapping):
        return value
    if (inner := _only_form(schema)) is not None:
        return value if value is None else _known(inner, value)
    if isinstance(value, list):
        items = schema.get("items")
        return [_known(items, item) for item in value] if isinstance(items, Mapping) else value
    named = schema.get("properties")
    if not isinstance(value, dict) or not isinstance(named, Mapping):
        return value
    is_open = schema.get("additionalProperties", False) is not False or any(name in schema for name in _OPEN)
    return {
        name: _known(named[name], item) if name in named else item
        for name, item in value.items()
        if is_open or name in named
    }


def _only_form(schema: Mapping[str, Any]) -> Any:
    """The one form of `X | None`, as our own signatures write it."""
    forms = schema.get("anyOf")
    if not isinstance(forms, list) or "properties" in schema:
        return None
    left = [form for form in forms if form != {"type": "null"}]
    return left[0] if len(left) == 1 and len(forms) == 2 else None
