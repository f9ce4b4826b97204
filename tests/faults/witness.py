"""Tools for fault tests that tell an outside witness: an append-only file, never our own tables.

`LAYBY_WITNESS` names the file. Each body writes `begin KEY` before its effect and `end KEY` after it.
"""

import os
import time
from pathlib import Path
from typing import Any

from sessions.contracts import Tool, ToolContext, Toolset

NOTHING = {"type": "object", "properties": {"seconds": {"type": "number"}}, "required": ["seconds"]}


def tell(line: str) -> None:
    """Append one line; the write is one system call, so that lines of several processes never mix."""
    handle = os.open(os.environ["LAYBY_WITNESS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    try:
        os.write(handle, f"{line}\n".encode())
    finally:
        os.close(handle)


def slow(context: ToolContext, arguments: dict[str, Any]) -> str:
    tell(f"begin {context.idempotency_key}")
    time.sleep(arguments["seconds"])
    tell(f"end {context.idempotency_key}")
    return "done"


toolset = Toolset(
    "witness",
    "Tells an outside witness what ran.",
    (
        Tool("witness", "slow", "Takes a while.", NOTHING, slow),
        Tool("witness", "slow_again", "Takes a while; may run again.", NOTHING, slow, on_crash="rerun"),
    ),
)


class Witness:
    """What the test reads."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def lines(self, what: str) -> list[str]:
        """The keys that were told as `begin` or `end`, in order."""
        text = self.path.read_text() if self.path.exists() else ""
        return [line.split()[1] for line in text.splitlines() if line.startswith(f"{what} ")]
