"""What chat completions refuse, and what only the stricter compatible servers do: no vendor takes less than this.

From OpenAI's reference and its error texts; marked (strict) where OpenAI itself is more lenient.
"""

import json
import re
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from tests.strict.server import Refused

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ROLES = {"system", "developer", "user", "assistant", "tool"}


def check(body: dict[str, Any]) -> None:
    """Raise Refused, naming the first thing wrong with *body*."""
    _require(isinstance(body.get("model"), str) and body["model"], "you must provide a model parameter")
    messages = body.get("messages")
    _require(isinstance(messages, list) and messages, "'messages' must not be empty")
    if "stream_options" in body:
        _require(body.get("stream"), "'stream_options' is only allowed when 'stream' is enabled")
    _check_tools(body)
    _check_messages(messages)


def _check_messages(messages: list[dict[str, Any]]) -> None:
    open_calls: list[str] = []
    used: set[str] = set()
    begun = False
    for index, message in enumerate(messages):
        at = f"messages[{index}]"
        role = message.get("role")
        _require(role in ROLES, f"{at}: unknown role {role!r}")
        if role == "tool":
            call_id = message.get("tool_call_id")
            _require(
                open_calls,
                f"{at}: messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
            )
            _require(call_id == open_calls[0], f"{at}: tool_call_id {call_id!r} is not the next open call (strict)")
            open_calls.pop(0)
            _check_content(message.get("content"), at)
            continue
        _require(
            not open_calls,
            f"{at}: an assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'; without a response: {open_calls}",
        )
        if role in ("system", "developer"):
            _require(not begun, f"{at}: system message must be at the beginning (strict)")
            _check_content(message.get("content"), at)
            continue
        begun = True
        if role == "user":
            _check_content(message.get("content"), at)
            continue
        calls = message.get("tool_calls")
        if message.get("content") is not None or calls is None:
            _check_content(message.get("content"), at)
        if calls is not None:
            open_calls = _check_calls(calls, at, used)
    _require(not open_calls, f"an assistant message with 'tool_calls' has no response for {open_calls}")
    _require(begun, "there is no message beside the system prompt (strict)")


def _check_calls(calls: Any, at: str, used: set[str]) -> list[str]:
    _require(isinstance(calls, list) and calls, f"{at}.tool_calls: must not be an empty array")
    ids: list[str] = []
    for number, call in enumerate(calls):
        where = f"{at}.tool_calls[{number}]"
        call_id, function = call.get("id"), call.get("function")
        _require(call.get("type") == "function" and isinstance(function, dict), f"{where}: must be a function call")
        _require(
            isinstance(call_id, str) and 1 <= len(call_id) <= 40, f"{where}.id: 1 to 40 characters, got {call_id!r}"
        )
        _require(call_id not in used, f"{where}.id: duplicate value {call_id!r}")
        used.add(call_id)
        ids.append(call_id)
        name, arguments = function.get("name"), function.get("arguments")
        _require(isinstance(name, str) and NAME.fullmatch(name), f"{where}.function.name: bad name {name!r}")
        _require(
            isinstance(arguments, str) and _is_object(arguments), f"{where}.function.arguments: no JSON object (strict)"
        )
    return ids


def _check_content(content: Any, at: str) -> None:
    texts = [content] if isinstance(content, str) else content
    _require(isinstance(texts, list) and texts, f"{at}: expected text, got {type(content).__name__}")
    for part in texts:
        text = part if isinstance(part, str) else part.get("text")
        _require(isinstance(text, str) and text.strip(), f"{at}: empty text (strict)")
        _require(_encodes(text), f"{at}: text with half a surrogate pair or a NUL")


def _check_tools(body: dict[str, Any]) -> None:
    tools = body.get("tools")
    if tools is None:
        _require("tool_choice" not in body, "'tool_choice' is only allowed when 'tools' are specified")
        return
    _require(isinstance(tools, list) and 1 <= len(tools) <= 128, "tools: 1 to 128 of them")
    names = set()
    for number, tool in enumerate(tools):
        at, function = f"tools[{number}].function", tool.get("function") or {}
        name = function.get("name")
        _require(tool.get("type") == "function", f"{at}: not a function")
        _require(isinstance(name, str) and NAME.fullmatch(name), f"{at}.name: bad name {name!r}")
        _require(name not in names, f"{at}.name: duplicate {name!r}")
        names.add(name)
        _require(len(function.get("description") or "") <= 1024, f"{at}.description: longer than 1024 characters")
        check_schema(function.get("parameters", {}), f"{at}.parameters")


def check_schema(schema: Any, at: str) -> None:
    """Refuse a *schema* that is no JSON Schema of an object."""
    _require(isinstance(schema, dict) and schema.get("type") == "object", f"{at}: schema must be of type 'object'")
    _require(isinstance(schema.get("properties"), dict), f"{at}: object schema without 'properties'")
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise Refused(f"{at}: {error.message}") from None


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _encodes(text: str) -> bool:
    return "\x00" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


def _require(condition: object, why: str) -> None:
    if not condition:
        raise Refused(why)
