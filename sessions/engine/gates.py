"""Where a gate hooks in: the protocol that approvals implement, found by the dotted paths in `settings.GATES`.

Every road to a tool's body goes through `dispatch`, and dispatch asks the gates of every call before it starts. With
none configured nothing is gated.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string

from sessions.contracts import Tool


@dataclass(frozen=True)
class GateCall:
    """A call as a gate sees it: the exact canonical arguments and who makes it."""

    session: UUID
    workspace: UUID
    call: UUID
    version: UUID
    surface: str
    tool: Tool
    arguments: str


@dataclass(frozen=True)
class Verdict:
    """`allow`: run. `deny`: an error result with the reason. `ask`: a person decides; `card` is what they see."""

    verdict: Literal["allow", "deny", "ask"]
    reason: str = ""
    card: Any = None


class Gate(Protocol):
    """One gate. Evaluated outside any transaction; an error of a gate means ask, never allow."""

    def evaluate(self, call: GateCall) -> Verdict:
        """The verdict on one call."""
        ...


def gates() -> Sequence[Gate]:
    """The configured gates."""
    return [import_string(path)() for path in settings.GATES]


STRICTNESS = {"allow": 0, "ask": 1, "deny": 2}


def strictest(call: GateCall) -> Verdict:
    """The strictest verdict of all gates on *call*: deny beats ask beats allow; an exception means ask."""
    verdict = Verdict("allow")
    for gate in gates():
        try:
            found = gate.evaluate(call)
        except Exception as error:  # noqa: BLE001 - any failure of a gate leads to a person
            found = Verdict("ask", f"The gate failed ({type(error).__name__}), so a person is asked.")
        if STRICTNESS[found.verdict] > STRICTNESS[verdict.verdict]:
            verdict = found
    return verdict
