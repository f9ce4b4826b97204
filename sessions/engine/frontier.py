"""The frontier: what a parked session waits in front of, as a versioned value.

Read at claim, by the console and by the check before a deploy. A shape this code does not know is never taken for "no
state": it raises, and the session is set aside with its row kept.
"""

import json
from dataclasses import dataclass
from typing import Any

SCHEMA_VERSION = 1


class UnreadableFrontierError(Exception):
    """This code cannot read that parked state."""


@dataclass(frozen=True)
class Frontier:
    """Where the frames stand: the root frame's id, its turn, the ids of its open calls and waits."""

    frame: str
    turn: int
    calls: tuple[str, ...]
    yields: tuple[str, ...]

    def as_json(self) -> str:
        """The text the row keeps beside `SCHEMA_VERSION`."""
        return json.dumps(
            {"frames": [{"frame": self.frame, "turn": self.turn, "calls": self.calls, "yields": self.yields}]}
        )

    @classmethod
    def parse(cls, version: int, raw: Any) -> "Frontier":
        """The value of a stored frontier. Raises UnreadableFrontierError."""
        if version != SCHEMA_VERSION:
            raise UnreadableFrontierError(
                f"Its parked state has version {version}, this release reads {SCHEMA_VERSION}."
            )
        try:
            data = json.loads(raw) if isinstance(raw, str) else raw
            (root,) = data["frames"]
            frontier = cls(root["frame"], root["turn"], tuple(root["calls"]), tuple(root["yields"]))
        except (ValueError, KeyError, TypeError) as error:
            raise UnreadableFrontierError(f"Its parked state cannot be read ({type(error).__name__}).") from None
        if not isinstance(frontier.frame, str) or not isinstance(frontier.turn, int):
            raise UnreadableFrontierError("Its parked state cannot be read (wrong types).")
        return frontier
