"""A frame's memory, read once when a worker takes the session: messages, calls, the waits not used yet."""

import json
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sessions.engine.sql import fetch, fetch_one
from sessions.states import OPEN_CALLS, CallStatus

FRAME = """/* memory.frame */
SELECT id, version FROM agent_sessions_frame WHERE session_id = %s AND path = '0'"""

MESSAGES = """/* memory.messages: the primary key */
SELECT n, turn, role, body FROM agent_sessions_message WHERE frame_id = %s ORDER BY n"""

CALLS = """/* memory.calls: index call_place */
SELECT id, turn, position, tool, arguments, on_crash, idempotency_key, status, attempt, result
FROM agent_sessions_call WHERE frame = %s ORDER BY turn, position"""

WAITS = """/* memory.waits: index yield_untaken */
SELECT id, call, phase, attempt, kind, outcome, outcome_by, payload,
       EXTRACT(EPOCH FROM outcome_at - opened_at)::double precision
FROM agent_sessions_yield WHERE session_id = %s AND taken_at IS NULL ORDER BY opened_at, id"""

# Several waits of one call happen (its outcome unknown, then again): the newest counts.


@dataclass
class CallRow:
    """One call as stored; the driver's copy follows what it writes."""

    id: UUID
    turn: int
    position: int
    tool: str
    arguments: str
    on_crash: str
    idempotency_key: UUID
    status: CallStatus
    attempt: int
    result: str | None

    @property
    def open(self) -> bool:
        return self.status in OPEN_CALLS


@dataclass(frozen=True)
class MessageRow:
    """One message as stored."""

    n: int
    turn: int
    role: str
    text: str
    extra: Any = None


@dataclass(frozen=True)
class WaitRow:
    """A wait of a call that is open or whose outcome is not used yet."""

    id: UUID
    call: UUID
    phase: str
    attempt: int
    kind: str
    outcome: str | None
    by: dict[str, Any]
    payload: Any
    elapsed: float


@dataclass
class Memory:
    """What a frame remembers. Reading costs its history once per claim; writing costs what is new."""

    session: UUID
    frame: UUID
    version: UUID
    messages: list[MessageRow] = field(default_factory=list)
    calls: dict[int, list[CallRow]] = field(default_factory=dict)
    waits: dict[UUID, WaitRow] = field(default_factory=dict)

    @classmethod
    def load(cls, session: UUID, *, fresh: bool = False) -> "Memory":
        """The root frame of *session* with everything it remembers; *fresh*: it never ran, so there are no calls."""
        row = fetch_one(FRAME, [session])
        assert row is not None
        memory = cls(session, row[0], row[1])
        for n, turn, role, body in fetch(MESSAGES, [memory.frame]):
            data = json.loads(body)
            memory.messages.append(MessageRow(n, turn, role, data["text"], data.get("extra")))
        if fresh:
            return memory
        for id_, turn, position, tool, arguments, on_crash, key, status, attempt, result in fetch(
            CALLS, [memory.frame]
        ):
            status = CallStatus(status)
            call = CallRow(id_, turn, position, tool, arguments, on_crash, key, status, attempt, result)
            memory.calls.setdefault(turn, []).append(call)
        memory.look_at_waits()
        return memory

    def look_at_waits(self) -> None:
        """Read the unused waits again: an outcome may have come."""
        self.waits = {}
        for id_, call, phase, attempt, kind, outcome, by, payload, elapsed in fetch(WAITS, [self.session]):
            self.waits[call] = WaitRow(
                id_, call, phase, attempt, kind, outcome,
                json.loads(by) if by else {}, json.loads(payload) if payload else None, round(elapsed or 0.0, 3),
            )  # fmt: skip

    @property
    def turn(self) -> int:
        """The number of the newest turn; 0 before the first reply."""
        return self.messages[-1].turn if self.messages else 0

    @property
    def next_n(self) -> int:
        """The number the next message gets: an assistant message leaves room for its results."""
        last = self.messages[-1]
        return last.n + 1 + (len(self.calls.get(last.turn, ())) if last.role == "assistant" else 0)

    def open_calls(self) -> list[CallRow]:
        """The calls of the newest turn that have no result yet, in the model's order."""
        return [call for call in self.calls.get(self.turn, ()) if call.open]
