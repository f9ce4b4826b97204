"""A strict server of OpenAI's chat completions, whole and streamed."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.strict import openai_rules
from tests.strict.plan import Call, Fault, Reply, Thinking
from tests.strict.server import StrictServer

PIECE = 7  # characters in a delta


class StrictOpenAI(StrictServer):
    """Speaks `POST /v1/chat/completions`. Reasoning goes out as `reasoning_content`, as DeepSeek and vLLM do."""

    path = "/v1/chat/completions"
    base_path = "/v1"

    def check(self, body: dict[str, Any], headers: Mapping[str, str]) -> None:
        openai_rules.check(body)

    def key_in(self, headers: Mapping[str, str]) -> str:
        return headers.get("authorization", "").removeprefix("Bearer ")

    def error_body(self, fault: Fault) -> dict[str, Any]:
        kind = fault.kind or ("server_error" if fault.status >= 500 else "invalid_request_error")
        return {"error": {"message": fault.message, "type": kind, "param": None, "code": fault.code}}

    def too_long(self) -> Fault:
        return Fault(
            400,
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 90210 tokens. "
            "Please reduce the length of the messages.",
            code="context_length_exceeded",
        )

    def whole(self, reply: Reply, model: str) -> dict[str, Any]:
        texts = [part for part in reply.parts if isinstance(part, str)]
        thoughts = [part.text for part in reply.parts if isinstance(part, Thinking)]
        message: dict[str, Any] = {"role": "assistant", "content": "".join(texts) if texts else None, "refusal": None}
        if thoughts:
            message["reasoning_content"] = "".join(thoughts)
        if calls := [part for part in reply.parts if isinstance(part, Call)]:
            message["tool_calls"] = [
                {"id": self._id(call), "type": "function", "function": {"name": call.tool, "arguments": call.raw}}
                for call in calls
            ]
        choice = {"index": 0, "message": message, "finish_reason": self._finish(reply), "logprobs": None}
        return self._envelope("chat.completion", model) | {"choices": [choice], "usage": self._usage()}

    def events(self, reply: Reply, model: str) -> Iterator[str]:
        envelope = self._envelope("chat.completion.chunk", model)

        def event(delta: dict[str, Any], finish: str | None = None) -> str:
            choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
            return f"data: {json.dumps({**envelope, 'choices': [choice]})}\n\n"

        yield event({"role": "assistant", "content": ""})
        index = -1
        for part in reply.parts:
            match part:
                case str():
                    yield from (event({"content": piece}) for piece in pieces(part))
                case Thinking(text):
                    yield from (event({"reasoning_content": piece}) for piece in pieces(text))
                case Call():
                    index += 1
                    head = {"index": index, "id": self._id(part), "type": "function"}
                    yield event({"tool_calls": [{**head, "function": {"name": part.tool, "arguments": ""}}]})
                    for piece in pieces(part.raw):
                        yield event({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
        if finish := self._finish(reply):
            yield event({}, finish)
        yield f"data: {json.dumps({**envelope, 'choices': [], 'usage': self._usage()})}\n\n"
        yield "data: [DONE]\n\n"

    def error_event(self) -> str:
        fault = Fault(500, "The server had an error while it answered.", kind="server_error")
        return f"data: {json.dumps(self.error_body(fault))}\n\n"

    def _finish(self, reply: Reply) -> str | None:
        if reply.finish != "auto":
            return reply.finish
        return "tool_calls" if any(isinstance(part, Call) for part in reply.parts) else "stop"

    def _id(self, call: Call) -> str:
        return self.new_id("call_of_the_server_") if call.id is None else call.id

    def _envelope(self, kind: str, model: str) -> dict[str, Any]:
        return {"id": self.new_id("chatcmpl-"), "object": kind, "created": 1_760_000_000, "model": model}

    @staticmethod
    def _usage() -> dict[str, int]:
        return {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


def pieces(text: str) -> list[str]:
    """*text* in the deltas it is streamed in. Pairs of surrogates, if written as such, may be split: so they are."""
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)]
