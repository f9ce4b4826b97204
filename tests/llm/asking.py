"""What the tests of this folder share: a vendor with its strict server, and requests to it."""

from dataclasses import dataclass
from typing import Any

from sessions.contracts import (
    ModelReply,
    ModelRequest,
    ProviderConfig,
    ToolSpec,
    TranscriptCall,
    TranscriptMessage,
)
from sessions.llm.request import request
from tests.strict import StrictAnthropic, StrictOpenAI
from tests.strict.server import StrictServer

ASK = ToolSpec(
    "system__ask_user",
    "Asks a person.",
    {"type": "object", "properties": {"prompt": {"type": "string"}}, "required": ["prompt"]},
)
HELLO = (TranscriptMessage("user", "Say hello."),)


@dataclass(frozen=True)
class Vendor:
    """One kind of provider and the strict server that speaks like it."""

    kind: str
    server: type[StrictServer]
    model: str

    def request_to(
        self, server: StrictServer, messages: tuple[TranscriptMessage, ...] = HELLO, **more: Any
    ) -> ModelRequest:
        provider = ProviderConfig(self.kind, server.base_url, more.pop("api_key", server.api_key))
        more = {"model": self.model, "system_prompt": "Be brief.", "tools": (ASK,), "timeout_seconds": 20.0, **more}
        return ModelRequest(provider=provider, messages=messages, **more)

    def ask(self, server: StrictServer, messages: tuple[TranscriptMessage, ...] = HELLO, **more: Any) -> ModelReply:
        return request(self.request_to(server, messages, **more))


OPENAI = Vendor("openai", StrictOpenAI, "gpt-test")
ANTHROPIC = Vendor("anthropic", StrictAnthropic, "claude-test")


def answered(reply: ModelReply, *results: str, ok: bool = True) -> TranscriptMessage:
    """*reply* as it stands in a transcript once its calls have *results*."""
    calls = tuple(
        TranscriptCall(f"0192aaaa-0000-7000-8000-{number:012d}", call.tool, call.arguments, result, ok)
        for number, (call, result) in enumerate(zip(reply.calls, results, strict=True))
    )
    return TranscriptMessage("assistant", reply.text, calls, reply.extra)
