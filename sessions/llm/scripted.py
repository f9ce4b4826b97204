"""The scripted model of SPEC 14: it plays a list, one entry per model call, through the code of every other provider.

Entry n answers when n assistant messages are already there, so a retried call plays the same entry and a resumed
session goes on where it was. `{{ result }}` is the last tool result. May not: know tools, or look at anything but the
request. Invariants: `validate_script` and playing use one compiler, so what was saved plays; a template can neither
loop nor call nor grow its text beyond what is put into it.
"""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from jinja2 import StrictUndefined, Template, TemplateError, UndefinedError, nodes
from jinja2.sandbox import SandboxedEnvironment

from sessions.contracts import ModelRequest, ProviderError
from workspaces.errors import Invalid
from workspaces.values import canonical, require_clean

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model
    from pydantic_ai.models.function import AgentInfo, DeltaToolCalls

MAX_ENTRIES = 1000
MAX_BYTES = 1024 * 1024
MAX_CALLS = 128
NOTHING_TO_SAY = "The script has ended."

# All that a template may be made of: text, values, conditions. No loop, no call, no arithmetic on text.
_ALLOWED = (
    nodes.Template, nodes.Output, nodes.TemplateData, nodes.Name, nodes.Const, nodes.Getattr, nodes.Getitem,
    nodes.Filter, nodes.Test, nodes.If, nodes.CondExpr, nodes.Compare, nodes.Operand, nodes.And, nodes.Or, nodes.Not,
    nodes.Concat,
)  # fmt: skip
_FILTERS = frozenset(
    {"default", "d", "upper", "lower", "trim", "title", "capitalize", "tojson", "length", "int", "string"}
)

# What makes a text a template; all other text is played as it stands.
_MARKS = ("{{", "{%", "{#")


class _Environment(SandboxedEnvironment):
    """Jinja's sandbox with members only: `a.b` is what JSON has under "b", never an attribute of a Python object."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        return self.getitem(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        try:
            return obj[argument]
        except (LookupError, TypeError):
            return self.undefined(obj=obj, name=argument)


_environment = _Environment(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True)
_environment.globals.clear()


class Result(str):
    """A tool's result as templates see it: its text; where that is a JSON object or list, its members too."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        try:
            return json.loads(self)[key]
        except (ValueError, TypeError, RecursionError):
            raise KeyError(key) from None


def scripted_model(req: ModelRequest) -> "Model[Any]":
    """The model that gives the entry of `req.script` whose turn it is. Raises ProviderError `script_invalid`."""
    from pydantic_ai.models.function import DeltaToolCall, FunctionModel

    index = sum(message.role == "assistant" for message in req.messages)
    say, calls = _play(req, index)

    async def stream(messages: "list[ModelMessage]", info: "AgentInfo") -> "AsyncIterator[str | DeltaToolCalls]":
        yield say
        for position, (tool, arguments) in enumerate(calls):
            yield {position: DeltaToolCall(tool, arguments, tool_call_id=f"scripted-{index + 1}-{position + 1}")}

    return FunctionModel(stream_function=stream, model_name=req.model or "scripted")


def validate_script(script: Any) -> None:
    """Raise Invalid, naming the entry and what is wrong with it, unless *script* can be played.

    A list of at most 1,000 entries and 1 MiB of JSON. An entry is an object with `say` (text) and `calls` (a list of
    at most 128 `{"tool": text, "arguments": object}`), both optional; templates stand in texts at any depth.
    """
    if not isinstance(script, Sequence) or isinstance(script, str | bytes):
        raise Invalid("A script must be a list of entries.")
    if len(script) > MAX_ENTRIES:
        raise Invalid(f"A script must have at most {MAX_ENTRIES:,} entries; this one has {len(script):,}.")
    for number, entry in enumerate(script, 1):
        try:
            require_clean(entry)
            _check_entry(entry)
        except Invalid as error:
            raise Invalid(f"Entry {number} of the script: {error.message}", entry=number) from None
    if len(canonical(list(script)).encode()) > MAX_BYTES:
        raise Invalid("A script must be at most 1 MiB.")


def _check_entry(entry: Any) -> None:
    _only(entry, {"say", "calls"}, "an entry")
    say, calls = entry.get("say"), entry.get("calls")
    if say is not None and not isinstance(say, str):
        raise Invalid("`say` must be text.")
    if calls is not None and (not isinstance(calls, list | tuple) or len(calls) > MAX_CALLS):
        raise Invalid(f"`calls` must be a list of at most {MAX_CALLS} calls.")
    _compile_all(say)
    for call in calls or ():
        _only(call, {"tool", "arguments"}, "a call")
        if not isinstance(call.get("tool"), str) or not call["tool"]:
            raise Invalid("`tool` must be the tool's name.")
        if not isinstance(call.get("arguments", {}), Mapping):
            raise Invalid(f"the `arguments` of {call['tool'][:80]!r} must be an object.")
        _compile_all(call.get("arguments"))


def _only(value: Any, known: set[str], what: str) -> None:
    if not isinstance(value, Mapping):
        raise Invalid(f"{what} must be an object.")
    if unknown := sorted(map(str, set(value) - known)):
        raise Invalid(f"{what} has no field {unknown[0][:80]!r}; it may have {' and '.join(sorted(known))}.")


def _compile_all(value: Any) -> None:
    match value:
        case str() if any(mark in value for mark in _MARKS):
            _template(value)
        case Mapping():
            for item in value.values():
                _compile_all(item)
        case list() | tuple():
            for item in value:
                _compile_all(item)


@lru_cache(maxsize=128)
def _template(text: str) -> Template:
    """*text* compiled. Raises Invalid: bad syntax, or more than a template here may do."""
    try:
        tree = _environment.parse(text)
    except (TemplateError, RecursionError) as error:
        raise Invalid(f"the template can't be read: {str(error)[:200]}.") from None
    for node in tree.find_all(nodes.Node):
        if not isinstance(node, _ALLOWED):
            raise Invalid(f"a template must not use {type(node).__name__.lower()}: only values and conditions.")
        if isinstance(node, nodes.Name) and node.name != "result":
            raise Invalid(f"the template names {node.name[:80]!r}; there is only `result`.")
        if isinstance(node, nodes.Filter) and node.name not in _FILTERS:
            raise Invalid(f"the template's filter {node.name[:80]!r} is not known here.")
        if isinstance(node, nodes.Filter) and node.args and node.name not in ("default", "d"):
            raise Invalid(f"the template's filter {node.name!r} takes no arguments here.")
    return _environment.from_string(tree)


def _play(req: ModelRequest, index: int) -> tuple[str, list[tuple[str, str]]]:
    """What entry *index* says and calls, its templates filled in; past the end, the last result."""
    results = [call.result for message in req.messages for call in message.calls]
    if index >= len(req.script):
        last = results[-1] if results else ""
        return (last if last.strip() else NOTHING_TO_SAY), []
    entry = req.script[index]
    try:
        _check_entry(entry)
        values = {"result": Result(results[-1])} if results else {}
        say = _filled(entry.get("say") or "", values)
        calls = [
            (call["tool"], json.dumps(_filled(call.get("arguments") or {}, values), ensure_ascii=False))
            for call in entry.get("calls") or ()
        ]
    except (Invalid, TemplateError) as error:
        said = error.message if isinstance(error, Invalid) else _plain(error)
        raise ProviderError(f"Entry {index + 1} of the script: {said}", failure="script_invalid") from None
    return say, calls


def _plain(error: TemplateError) -> str:
    said = str(error)
    if "'result' is undefined" in said:
        return "it uses the last result, but no tool has been called yet."
    if isinstance(error, UndefinedError):
        return "the last result has no such member as the template names."
    return f"the template failed: {said[:200]}."


def _filled(value: Any, values: Mapping[str, Result]) -> Any:
    match value:
        case str() if any(mark in value for mark in _MARKS):
            return _template(value).render(values)
        case Mapping():
            return {key: _filled(item, values) for key, item in value.items()}
        case list() | tuple():
            return [_filled(item, values) for item in value]
    return value
