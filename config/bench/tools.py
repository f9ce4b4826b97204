"""The one tool of the benchmark: a body that does nothing."""

from typing import Any

from sessions.contracts import Tool, ToolContext, Toolset


def _nothing(context: ToolContext, arguments: dict[str, Any]) -> str:
    return "ok"


toolset = Toolset(
    "bench",
    "A tool that does nothing, for the benchmark.",
    (Tool("bench", "nothing", "Does nothing.", {"type": "object", "properties": {}}, _nothing, on_crash="rerun"),),
)
