"""What a strict server is told to answer: replies and faults, as values."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Call:
    """A tool call. `arguments` as text goes out as it is, broken or not. `id` None: the server makes one."""

    tool: str
    arguments: str | Mapping[str, Any] = field(default_factory=dict)
    id: str | None = None

    @property
    def raw(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


@dataclass(frozen=True)
class Reply:
    """An answer. `blocks`, if given, is its order: texts (str), Calls, and `Thinking`s; else text, then calls.

    A Reply of nothing is an empty answer. `finish` is the vendor's own word and None leaves it out.
    """

    text: str = ""
    calls: Sequence[Call] = ()
    blocks: Sequence[Any] = ()
    finish: str | None = "auto"

    @property
    def parts(self) -> list[Any]:
        return list(self.blocks) or [*([self.text] if self.text else []), *self.calls]


@dataclass(frozen=True)
class Thinking:
    """Reasoning. The Anthropic server signs it and refuses it back with any other signature or text."""

    text: str


@dataclass(frozen=True)
class Fault:
    """An HTTP error. `kind` is the vendor's error type; None: the usual one of the status."""

    status: int
    message: str = "An injected fault."
    headers: Mapping[str, str] = field(default_factory=dict)
    code: str | None = None
    kind: str | None = None


def RateLimited(retry_after: str | None = None) -> Fault:  # noqa: N802 - used as a value of its own
    """429, with `retry-after` in seconds or as a date."""
    headers = {"retry-after": retry_after} if retry_after is not None else {}
    return Fault(429, "Rate limit reached for requests.", headers, code="rate_limit_exceeded", kind="rate_limit_error")


def ServerError(status: int = 500) -> Fault:  # noqa: N802
    """5xx."""
    return Fault(status, "The server had an error while processing your request.")


@dataclass(frozen=True)
class ContextTooLong:
    """The vendor's refusal of a history that is too long, in its own words."""


@dataclass(frozen=True)
class Hang:
    """Sends nothing more after *after* chunks (0: not even headers) until the server closes or *seconds* are over."""

    seconds: float = 60.0
    after: int = 0
    reply: Reply = Reply("A text that will not be finished.")


@dataclass(frozen=True)
class Slow:
    """Answers after *seconds*, or when the server is closed."""

    seconds: float
    reply: Reply = Reply("At last.")


@dataclass(frozen=True)
class Cut:
    """A stream that ends after *after* chunks: the connection dies, or (`clean`) the body just ends too early."""

    after: int
    reply: Reply = Reply("A text that will be cut off somewhere.")
    clean: bool = False


@dataclass(frozen=True)
class StreamError:
    """A stream that says after *after* chunks that the server failed."""

    after: int = 1
    reply: Reply = Reply("A text that will be cut off somewhere.")


Item = str | Reply | Fault | ContextTooLong | Hang | Slow | Cut | StreamError | Mapping[str, Any]
Script = Iterable[Item] | Callable[[list[dict[str, Any]]], Item]


def normal(item: Item) -> Any:
    """*item* as a Reply or a fault."""
    match item:
        case str():
            return Reply(item)
        case Mapping():
            calls = [Call(call["tool"], call.get("arguments", {})) for call in item.get("calls") or ()]
            return Reply(item.get("say") or "", calls)
    return item
