"""A strict server of Anthropic's messages, whole and streamed."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.strict import anthropic_rules
from tests.strict.openai_server import pieces
from tests.strict.plan import Call, Fault, Reply, Thinking
from tests.strict.server import StrictServer

KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


class StrictAnthropic(StrictServer):
    """Speaks `POST /v1/messages`; reasoning is signed."""

    path = "/v1/messages"
    base_path = ""

    def check(self, body: dict[str, Any], headers: Mapping[str, str]) -> None:
        anthropic_rules.check(body, headers)

    def key_in(self, headers: Mapping[str, str]) -> str:
        return headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")

    def error_body(self, fault: Fault) -> dict[str, Any]:
        kind = fault.kind or KINDS.get(fault.status, "api_error" if fault.status >= 500 else "invalid_request_error")
        return {"type": "error", "error": {"type": kind, "message": fault.message}, "request_id": "req_0001"}

    def too_long(self) -> Fault:
        return Fault(400, "prompt is too long: 219073 tokens > 200000 maximum")

    def whole(self, reply: Reply, model: str) -> dict[str, Any]:
        content = []
        for part in reply.parts:
            block = self._block(part)
            match part:
                case str():
                    block["text"] = part
                case Call():
                    block["input"] = json.loads(part.raw)
                case Thinking(text):
                    block |= {"thinking": text, "signature": anthropic_rules.signature(text)}
            content.append(block)
        usage = {"input_tokens": 11, "output_tokens": 7}
        return self._message(model) | {"content": content, "stop_reason": self._stop(reply), "usage": usage}

    def events(self, reply: Reply, model: str) -> Iterator[str]:
        yield _event("message_start", message=self._message(model))
        yield _event("ping")
        for index, part in enumerate(reply.parts):
            yield _event("content_block_start", index=index, content_block=self._block(part))
            for delta in self._deltas(part):
                yield _event("content_block_delta", index=index, delta=delta)
            yield _event("content_block_stop", index=index)
        if stop := self._stop(reply):
            yield _event(
                "message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage={"output_tokens": 7}
            )
        yield _event("message_stop")

    def error_event(self) -> str:
        return _event("error", error={"type": "overloaded_error", "message": "Overloaded"})

    def _deltas(self, part: Any) -> Iterator[dict[str, Any]]:
        match part:
            case str():
                yield from ({"type": "text_delta", "text": piece} for piece in pieces(part))
            case Call():
                raw = "" if part.raw == "{}" else part.raw
                yield {"type": "input_json_delta", "partial_json": ""}
                yield from ({"type": "input_json_delta", "partial_json": piece} for piece in pieces(raw))
            case Thinking(text):
                yield from ({"type": "thinking_delta", "thinking": piece} for piece in pieces(text))
                yield {"type": "signature_delta", "signature": anthropic_rules.signature(text)}

    def _block(self, part: Any) -> dict[str, Any]:
        match part:
            case Call():
                call_id = self.new_id("toolu_") if part.id is None else part.id
                return {"type": "tool_use", "id": call_id, "name": part.tool, "input": {}}
            case Thinking():
                return {"type": "thinking", "thinking": "", "signature": ""}
        return {"type": "text", "text": ""}

    def _stop(self, reply: Reply) -> str | None:
        if reply.finish != "auto":
            return reply.finish
        return "tool_use" if any(isinstance(part, Call) for part in reply.parts) else "end_turn"

    def _message(self, model: str) -> dict[str, Any]:
        return {
            "id": self.new_id("msg_"),
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 11, "output_tokens": 1},
        }


def _event(kind: str, **data: Any) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n"
