"""`ModelReply.extra`: how a reply was laid out, so that it can be sent back as it was.

A reply is stored as one text and a list of calls. That is all of it for most; reasoning with its signature, text
after or between calls, and what a vendor hangs on a call are kept here beside it, as JSON. May not: be needed. A
transcript whose `extra` is missing, foreign or doesn't fit is laid out as text, then calls, without reasoning.
Invariant: it goes back only to the provider (kind and address) it came from.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sessions.contracts import ModelRequest, ProviderConfig, TranscriptMessage
from sessions.llm.address import base_url_for
from workspaces.errors import Invalid
from workspaces.values import sanitise

VERSION = 1
# Between the text blocks of one reply, where it had several.
SEPARATOR = "\n\n"


@dataclass(frozen=True)
class CallAt:
    """The place of the call with this index; `details` is what the vendor wants back with it."""

    index: int
    details: dict[str, Any] | None = None


@dataclass(frozen=True)
class Thought:
    """One block of reasoning."""

    content: str
    id: str | None = None
    signature: str | None = None
    details: dict[str, Any] | None = None


Piece = str | CallAt | Thought


def keep(pieces: Sequence[Piece], provider: ProviderConfig) -> Any:
    """*pieces* as the JSON of `ModelReply.extra`; None where text then calls says it all.

    The reply's text is its text pieces joined by `SEPARATOR`. Reasoning that can't be stored as it is (a NUL, half a
    surrogate pair) is left out: changed, its signature would not hold.
    """
    stored = [entry for entry in map(_stored, pieces) if entry is not None]
    plain: list[Any] = [{"text": len(piece)} for piece in pieces if isinstance(piece, str)][:1]
    plain += [{"call": {}} for piece in pieces if isinstance(piece, CallAt)]
    if stored == plain:
        return None
    return {"version": VERSION, "from": _origin(provider), "pieces": stored}


def restore(message: TranscriptMessage, req: ModelRequest) -> list[Piece]:
    """The pieces of an assistant *message*, each call exactly once."""
    extra = message.extra
    if isinstance(extra, dict) and extra.get("version") == VERSION and extra.get("from") == _origin(req.provider):
        try:
            return list(_pieces(extra["pieces"], message))
        except (KeyError, TypeError, ValueError, AttributeError):
            pass
    return [message.text, *(CallAt(index) for index in range(len(message.calls)))]


def _stored(piece: Piece) -> dict[str, Any] | None:
    match piece:
        case str():
            return {"text": len(piece)}
        case CallAt(_, details):
            return {"call": _unchanged(details) or {}}
        case Thought():
            thought = {"content": piece.content, "id": piece.id, "signature": piece.signature, "details": piece.details}
            return {"thought": thought} if _unchanged(thought) else None


def _unchanged(value: dict[str, Any] | None) -> dict[str, Any] | None:
    return value if value and not sanitise(value)[1] else None


def _pieces(stored: list[dict[str, Any]], message: TranscriptMessage) -> Iterator[Piece]:
    at, calls = 0, 0
    for entry in stored:
        ((kind, value),) = entry.items()
        if kind == "text":
            if at:
                at += len(SEPARATOR)
            yield message.text[at : at + value]
            at += value
        elif kind == "call":
            yield CallAt(calls, _object(value))
            calls += 1
        elif kind == "thought":
            yield Thought(
                _text(value["content"]) or "",
                _text(value.get("id")),
                _text(value.get("signature")),
                _object(value.get("details")),
            )
    if at != len(message.text) or calls != len(message.calls):
        raise ValueError("not the layout of this message")


def _text(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise TypeError("text expected")
    return value


def _object(value: Any) -> dict[str, Any] | None:
    if value is not None and not isinstance(value, dict):
        raise TypeError("object expected")
    return value or None


def _origin(provider: ProviderConfig) -> str:
    try:
        return f"{provider.kind} {base_url_for(provider.kind, provider.base_url)}"
    except Invalid:
        return provider.kind
