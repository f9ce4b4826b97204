"""Tools for tests of the engine: their bodies do what the test puts into `ACTS`, and say so in `RAN`."""

from collections.abc import Callable
from typing import Any

from sessions.contracts import Tool, ToolContext, Toolset, YieldRequest

ACTS: dict[str, Callable[[ToolContext], Any]] = {}
RAN: list[tuple[str, str]] = []
NOTHING = {"type": "object", "properties": {}, "additionalProperties": True}


def body(name: str) -> Callable[[ToolContext, dict[str, Any]], Any]:
    def run(context: ToolContext, arguments: dict[str, Any]) -> Any:
        RAN.append((name, context.idempotency_key))
        return ACTS[name](context) if name in ACTS else f"{name} ran"

    return run


def external(context: ToolContext, arguments: dict[str, Any]) -> YieldRequest:
    RAN.append(("external", context.idempotency_key))
    if "external" in ACTS:
        ACTS["external"](context)
    return YieldRequest("external", "external", {}, event_key=f"external:{arguments['name']}:")


def _tool(name: str, **more: Any) -> Tool:
    return Tool("test", name, f"Runs {name}.", NOTHING, body(name), **more)


toolset = Toolset(
    "test",
    "For tests.",
    (
        _tool("once"),
        _tool("again", on_crash="rerun"),
        _tool("stop", on_crash="cancelled"),
        _tool("safe", effect="read", on_crash="rerun", concurrency_safe=True),
        _tool("safe2", effect="read", on_crash="rerun", concurrency_safe=True),
        Tool("test", "wait", "Waits for an event.", NOTHING, external),
    ),
)
