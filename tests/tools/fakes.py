"""What tests of tools stand on: a context that records what a body does, and a tool made on the spot."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sessions.contracts import Tool, WaitOutcome


@dataclass
class FakeContext:
    """A `ToolContext` of the workspace `acme` without a runtime behind it; `told` is what was published."""

    session_id: str = "session-1"
    call_id: str = "call-1"
    idempotency_key: str = "call-1"
    workspace_slug: str = "acme"
    surface: str = "workspace"
    attempt: int = 1
    told: list[str] = field(default_factory=list)

    def inform(self, message: str) -> int:
        self.told.append(message)
        return 3

    def cancelled(self) -> bool:
        return False


def tool_taking(parameters: Mapping[str, Any], **kept: Any) -> Tool:
    """A tool `notes__find` with that schema, whose body gives its arguments back."""
    return Tool("notes", "find", "Find notes.", parameters, lambda context, arguments: arguments, **kept)


def ended(outcome: str, payload: Any = None, **kept: Any) -> WaitOutcome:
    """A wait that ended so, after 12.3456 seconds."""
    return WaitOutcome(outcome, payload, kept.get("by", ""), kept.get("reason", ""), 12.3456)
