"""Our transcript as the messages of the model library: the one place that knows what strict providers refuse.

May not: call anything, keep anything. Invariants, for any sequence of `TranscriptMessage`s whatever (tests/llm fuzzes
them against both strict servers): turns alternate and end with the user's; every call is followed by exactly its
result, in order, before anything else; no text block is blank; call ids are ours, unique, at most 40 characters; tool
names fit every vendor's pattern; arguments are a JSON object; nothing in it can't be encoded as UTF-8. What a provider
needs back unchanged (layout, reasoning, signatures) comes from `ModelReply.extra`, and goes only to where it came from.
"""

import hashlib
import re
from typing import TYPE_CHECKING, Any

from sessions.contracts import ModelRequest, TranscriptCall, TranscriptMessage
from sessions.llm import layout
from workspaces.errors import Invalid
from workspaces.ids import parse_id
from workspaces.values import clean_text, parse_json, sanitise

if TYPE_CHECKING:
    from pydantic_ai import messages as wire

# What stands where a provider refuses nothing. The model reads these; they must not look like a person's words.
NO_TEXT = "(no text)"
NO_RESULT = "(no output)"
NO_MESSAGE = "(the conversation begins here)"
GO_ON = "(go on)"

MAX_TOOL_NAME = 64
# Arguments that are no JSON object can't be sent as they are: the model is shown this much of what it wrote.
BROKEN_SHOWN = 2000
BROKEN_KEY = "INVALID_JSON"


def render(req: ModelRequest, *, system: str, marks_failures: bool) -> "list[wire.ModelMessage]":
    """The whole transcript of *req*, system prompt included.

    *system* is the library's name for the vendor, under which it takes reasoning back. *marks_failures*: whether the
    provider has a way of its own to say that a result is an error. Without one the result's text is all the model
    gets, exactly as it is stored.
    """
    from pydantic_ai import messages as wire

    ids = _Ids()
    found: list[wire.ModelMessage] = []
    pending: list[wire.ModelRequestPart] = []
    if req.system_prompt.strip():
        pending.append(wire.SystemPromptPart(clean_text(req.system_prompt)))
    spoken = False  # whether `pending` holds anything beside the system prompt
    for message in req.messages:
        if message.role == "user":
            pending.append(wire.UserPromptPart(_visible(message.text, NO_TEXT)))
            spoken = True
            continue
        calls = [(call, ids.of(call.id)) for call in message.calls]
        parts = _response_parts(message, calls, req, system)
        if not parts:
            continue
        if spoken or not found:
            if not spoken:
                pending.append(wire.UserPromptPart(NO_MESSAGE))
            found.append(wire.ModelRequest(parts=pending))
            found.append(wire.ModelResponse(parts=parts, provider_name=system))
        else:
            # Two replies in a row are one turn to a provider.
            found[-1] = wire.ModelResponse(parts=[*found[-1].parts, *parts], provider_name=system)
        pending = [_result_part(call, call_id, marks_failures) for call, call_id in calls]
        spoken = bool(pending)
    if not spoken:
        pending.append(wire.UserPromptPart(GO_ON if found else NO_MESSAGE))
    found.append(wire.ModelRequest(parts=pending))
    return found


def wire_tool_name(name: str) -> str:
    """*name* as every vendor takes it: a model may have invented any text, and it must still be sent back."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:MAX_TOOL_NAME] or "unknown"


def wire_arguments(arguments: str) -> dict[str, Any]:
    """What the model wrote as a JSON object; text that is none stands, shortened, under `INVALID_JSON`.

    Only for the model's eyes: what runs and what a decision binds is made from the stored text, never from this.
    """
    try:
        value = parse_json(arguments)
    except Invalid:
        value = None
    if not isinstance(value, dict):
        shown = clean_text(arguments)
        if len(shown) > BROKEN_SHOWN:
            shown = f"{shown[:BROKEN_SHOWN]}… ({len(shown)} characters in all)"
        return {BROKEN_KEY: shown}
    clean: dict[str, Any] = sanitise(value)[0]
    return clean


class _Ids:
    """Our call ids as the wire has them: `call_` and 32 hex digits, each once in a request."""

    def __init__(self) -> None:
        self._given: set[str] = set()

    def of(self, call_id: str) -> str:
        known = parse_id(call_id)
        digits = known.hex if known else hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        while digits in self._given:
            digits = hashlib.sha256(f"{digits}+".encode()).hexdigest()[:32]
        self._given.add(digits)
        return f"call_{digits}"


def _response_parts(
    message: TranscriptMessage, calls: list[tuple[TranscriptCall, str]], req: ModelRequest, system: str
) -> "list[wire.ModelResponsePart]":
    from pydantic_ai import messages as wire

    parts: list[wire.ModelResponsePart] = []
    for piece in layout.restore(message, req):
        match piece:
            case str():
                if piece.strip():
                    parts.append(wire.TextPart(clean_text(piece)))
            case layout.CallAt(index, details):
                call, call_id = calls[index]
                parts.append(
                    wire.ToolCallPart(
                        wire_tool_name(call.tool),
                        wire_arguments(call.arguments),
                        call_id,
                        provider_name=system if details else None,
                        provider_details=details,
                    )
                )
            case layout.Thought() if _goes_back(piece, system):
                parts.append(
                    wire.ThinkingPart(
                        piece.content,
                        id=piece.id,
                        signature=piece.signature,
                        provider_name=system,
                        provider_details=piece.details,
                    )
                )
    # Reasoning alone is no turn: a provider would see an empty message.
    return parts if any(not isinstance(part, wire.ThinkingPart) for part in parts) else []


def _goes_back(thought: layout.Thought, system: str) -> bool:
    # What has no native place (no signature for Anthropic, no field of its own elsewhere) the library would send as a
    # user's turn: words nobody said, and two user's turns in a row.
    return bool(thought.signature) if system == "anthropic" else thought.id != "content"


def _result_part(call: TranscriptCall, call_id: str, marks_failures: bool) -> "wire.ToolReturnPart":
    from pydantic_ai import messages as wire

    return wire.ToolReturnPart(
        tool_name=wire_tool_name(call.tool),
        content=_visible(call.result, NO_RESULT),
        tool_call_id=call_id,
        outcome="success" if call.ok or not marks_failures else "failed",
    )


def _visible(text: str, otherwise: str) -> str:
    return clean_text(text) if text.strip() else otherwise
