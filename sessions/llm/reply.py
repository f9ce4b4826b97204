"""What a model said, from the library's parts to our `ModelReply`.

May not: parse or repair arguments. Invariants: every call comes through, in order, with its raw text, whatever its id
or its JSON; nothing in a reply can fail to be stored (NUL and lone surrogates are replaced visibly); an answer that
was cut off is an error and never a shorter answer.
"""

import re
from typing import TYPE_CHECKING

from sessions.contracts import ModelCall, ModelReply, ModelRequest, ProviderError
from sessions.llm import layout
from workspaces.values import canonical, clean_text, sanitise

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse, ToolCallPart

_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def read(response: "ModelResponse", req: ModelRequest, *, system: str) -> ModelReply:
    """*response* as our reply.

    Raises ProviderError: `provider_unavailable` (it was cut off), `empty_reply`, `provider_rejected` (filtered).
    """
    from pydantic_ai import messages as wire

    details = response.provider_details or {}
    if system != "function" and not details.get("finish_reason") and not details.get("refusal"):
        raise ProviderError(
            "The model's answer broke off before its end.", failure="provider_unavailable", retryable=True
        )
    pieces: list[layout.Piece] = []
    calls: list[ModelCall] = []
    for part in response.parts:
        match part:
            case wire.TextPart(content=content) if content:
                pieces.append(text_of(content))
            case wire.ThinkingPart() if part.content or part.signature:
                pieces.append(layout.Thought(part.content, part.id, part.signature, part.provider_details))
            case wire.ToolCallPart():
                pieces.append(layout.CallAt(len(calls), part.provider_details))
                calls.append(
                    ModelCall(
                        text_of(part.tool_call_id), text_of(part.tool_name), text_of(_raw_arguments(part, system))
                    )
                )
    text = layout.SEPARATOR.join(piece for piece in pieces if isinstance(piece, str))
    if not text.strip() and not calls:
        text = _refusal(details, response.finish_reason)
        pieces = [text]
    return ModelReply(
        text=text,
        calls=tuple(calls),
        extra=layout.keep(pieces, req.provider),
        model=text_of(response.model_name or req.model),
        input_tokens=response.usage.input_tokens,
        output_tokens=response.usage.output_tokens,
    )


def text_of(text: str) -> str:
    """*text* fit to be stored. The halves of a pair that came in two chunks are joined first."""
    return clean_text(_PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text))


def _raw_arguments(part: "ToolCallPart", system: str) -> str:
    if part.args is None or part.args == "":
        # Anthropic says `input: {}` and sends no text for it; elsewhere nothing was said, and stays nothing.
        return "{}" if system == "anthropic" else ""
    if isinstance(part.args, str):
        return part.args
    return canonical(sanitise(part.args)[0])


def _refusal(details: dict[str, object], finish_reason: str | None) -> str:
    """The words of a model that refused, or the error of one that said nothing."""
    if isinstance(refusal := details.get("refusal"), str) and refusal.strip():
        return text_of(refusal)
    if finish_reason == "content_filter":
        raise ProviderError("The provider's content filter kept the model's answer back.", failure="provider_rejected")
    if finish_reason == "length":
        raise ProviderError(
            "The model reached its output limit before it said anything.", failure="empty_reply", retryable=True
        )
    raise ProviderError("The model answered with neither text nor a tool call.", failure="empty_reply", retryable=True)
