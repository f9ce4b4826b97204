"""What Anthropic's messages API refuses, and what only Bedrock and older models do: no vendor takes less than this.

From Anthropic's reference and its error texts; marked (strict) where today's own API is more lenient.
"""

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from tests.strict.openai_rules import check_schema
from tests.strict.server import Refused

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def check(body: dict[str, Any], headers: Mapping[str, str] | None = None) -> None:
    """Raise Refused, naming the first thing wrong with *body*."""
    if headers is not None:
        _require("anthropic-version" in headers, "anthropic-version: header is required")
    _require(isinstance(body.get("model"), str) and body["model"], "model: field required")
    limit = body.get("max_tokens")
    _require(isinstance(limit, int) and limit >= 1, "max_tokens: field required, at least 1")
    if "system" in body:
        _check_system(body["system"])
    messages = body.get("messages")
    _require(isinstance(messages, list) and messages, "messages: at least one message is required")
    names = _check_tools(body.get("tools"))
    _check_messages(messages, bool(names))


def signature(thinking: str) -> str:
    """What the server signs reasoning with."""
    return "sig_" + hashlib.sha256(thinking.encode("utf-8", "surrogatepass")).hexdigest()


def _check_messages(messages: list[dict[str, Any]], has_tools: bool) -> None:
    used: set[str] = set()
    open_calls: list[str] = []
    for index, message in enumerate(messages):
        at, role = f"messages.{index}", message.get("role")
        _require(role in ("user", "assistant"), f"{at}.role: 'user' or 'assistant', got {role!r}")
        wanted = "assistant" if index % 2 else "user"
        _require(
            role == wanted, f"{at}: roles must alternate between 'user' and 'assistant', beginning with 'user' (strict)"
        )
        blocks = _blocks(message.get("content"), at)
        if role == "user":
            _check_results(blocks, open_calls, at, has_tools)
            open_calls = []
            _check_user(blocks, at)
        else:
            open_calls = _check_assistant(blocks, used, at, has_tools)
    _require(
        messages[-1]["role"] == "user",
        "this model does not support assistant message prefill: the conversation must end with a user message",
    )


def _check_results(blocks: list[dict[str, Any]], open_calls: list[str], at: str, has_tools: bool) -> None:
    results = [block for block in blocks if block.get("type") == "tool_result"]
    leading = [block for block in blocks[: len(results)] if block.get("type") == "tool_result"]
    ids = [block.get("tool_use_id") for block in results]
    _require(not results or has_tools, f"{at}: tool_result blocks without tools (strict)")
    for call_id in ids:
        _require(
            call_id in open_calls,
            f"{at}: unexpected tool_use_id {call_id!r} in tool_result: no such tool_use in the previous message",
        )
    _require(len(set(ids)) == len(ids), f"{at}: each tool_use must have a single result")
    _require(
        not set(open_calls) - set(ids),
        f"{at}: tool_use ids were found without tool_result blocks immediately after: {open_calls}",
    )
    _require(len(leading) == len(results), f"{at}: tool_result blocks must come first")
    _require(ids == open_calls, f"{at}: tool_result blocks not in the order of the calls (strict)")
    for block in results:
        content = block.get("content", [])
        _require(isinstance(block.get("is_error", False), bool), f"{at}: is_error must be a boolean")
        for part in _blocks(content, f"{at}.tool_result"):
            _require(part.get("type") == "text", f"{at}.tool_result: unknown block {part.get('type')!r}")
            _check_text(part.get("text"), f"{at}.tool_result")


def _check_user(blocks: list[dict[str, Any]], at: str) -> None:
    for block in blocks:
        _require(block.get("type") in ("text", "tool_result"), f"{at}: {block.get('type')!r} in a user message")
        if block["type"] == "text":
            _check_text(block.get("text"), at)


def _check_assistant(blocks: list[dict[str, Any]], used: set[str], at: str, has_tools: bool) -> list[str]:
    calls: list[str] = []
    for block in blocks:
        match block.get("type"):
            case "text":
                _check_text(block.get("text"), at)
            case "tool_use":
                call_id, name = block.get("id"), block.get("name")
                _require(has_tools, f"{at}: tool_use blocks without tools (strict)")
                _require(isinstance(call_id, str) and ID.fullmatch(call_id), f"{at}.tool_use.id: bad id {call_id!r}")
                _require(call_id not in used, f"{at}: `tool_use` ids must be unique: {call_id!r}")
                used.add(call_id)
                calls.append(call_id)
                _require(isinstance(name, str) and NAME.fullmatch(name), f"{at}.tool_use.name: bad name {name!r}")
                _require(isinstance(block.get("input"), dict), f"{at}.tool_use.input: should be an object")
            case "thinking":
                signed = signature(str(block.get("thinking")))
                _require(block.get("signature") == signed, f"{at}: invalid `signature` in `thinking` block")
            case other:
                raise Refused(f"{at}: {other!r} in an assistant message")
    _require(any(block["type"] != "thinking" for block in blocks), f"{at}: nothing but thinking (strict)")
    return calls


def _check_tools(tools: Any) -> set[str]:
    if tools is None:
        return set()
    _require(isinstance(tools, list) and tools, "tools: must not be empty (strict)")
    names: set[str] = set()
    for number, tool in enumerate(tools):
        name = tool.get("name")
        _require(isinstance(name, str) and NAME.fullmatch(name), f"tools.{number}.name: bad name {name!r}")
        _require(name not in names, f"tools: tool names must be unique: {name!r}")
        names.add(name)
        check_schema({"properties": {}, **(tool.get("input_schema") or {})}, f"tools.{number}.input_schema")
    return names


def _check_system(system: Any) -> None:
    for block in _blocks(system, "system"):
        _check_text(block.get("text"), "system")


def _blocks(content: Any, at: str) -> list[dict[str, Any]]:
    if isinstance(content, str):
        _check_text(content, at)
        return [{"type": "text", "text": content}]
    _require(isinstance(content, list) and content, f"{at}: content must not be empty")
    _require(all(isinstance(block, dict) for block in content), f"{at}: content must be a list of blocks")
    blocks: list[dict[str, Any]] = content
    return blocks


def _check_text(text: Any, at: str) -> None:
    _require(isinstance(text, str) and text, f"{at}: text content blocks must be non-empty")
    _require(text.strip(), f"{at}: text content blocks must contain non-whitespace text")
    broken = "\x00" in text or any("\ud800" <= letter <= "\udfff" for letter in text)
    _require(not broken, f"{at}: text with half a surrogate pair or a NUL")


def _require(condition: object, why: str) -> None:
    if not condition:
        raise Refused(why)
