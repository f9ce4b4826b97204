"""The states of sessions, calls and waits, and the edges between session states, as data.

The README's diagram, the store's guards and the state-machine test are made from `EDGES`. Nothing here touches a row.
"""

from enum import StrEnum


class State(StrEnum):
    """Where a session is. `idle` is a chat between turns."""

    QUEUED = "queued"
    RUNNING = "running"
    PARKED = "parked"
    RESUMABLE = "resumable"
    PAUSED = "paused"
    IDLE = "idle"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    ABANDONED = "abandoned"


ENDED = frozenset({State.COMPLETED, State.FAILED, State.CANCELLED, State.ABANDONED})
CLAIMABLE = frozenset({State.QUEUED, State.RESUMABLE})
OPEN = frozenset(State) - ENDED

# What a person reads on a chip.
WORDS: dict[str, str] = {
    State.QUEUED: "Queued",
    State.RUNNING: "Running",
    State.PARKED: "Waiting",
    State.RESUMABLE: "Resuming",
    State.PAUSED: "Paused",
    State.IDLE: "Idle",
    State.COMPLETED: "Completed",
    State.FAILED: "Failed",
    State.CANCELLED: "Cancelled",
    State.ABANDONED: "Abandoned",
}

# verb -> (from states, to states): every way a session may change its state, and the store's verb that does it.
EDGES: dict[str, tuple[frozenset[State], frozenset[State]]] = {
    "start": (frozenset(), frozenset({State.QUEUED})),
    "claim": (CLAIMABLE, frozenset({State.RUNNING, State.PARKED})),  # parked: attention `unreadable_state`
    "reclaim": (frozenset({State.RUNNING}), frozenset({State.RESUMABLE, State.PARKED})),  # parked: `poison`
    "release": (frozenset({State.RUNNING}), frozenset({State.RESUMABLE})),
    "park": (frozenset({State.RUNNING}), frozenset({State.PARKED})),
    "resolve": (frozenset({State.PARKED}), frozenset({State.RESUMABLE})),
    "set_aside": (frozenset({State.RUNNING}), frozenset({State.PARKED})),
    "finish": (frozenset({State.RUNNING}), frozenset({State.COMPLETED, State.FAILED})),
    "fail_overdue": (OPEN, frozenset({State.FAILED})),
    "cancel": (OPEN, frozenset({State.CANCELLED})),
    "abandon": (OPEN, frozenset({State.ABANDONED})),
    "pause": (frozenset({State.QUEUED, State.PARKED, State.RESUMABLE}), frozenset({State.PAUSED})),
    "pause_here": (frozenset({State.RUNNING}), frozenset({State.PAUSED})),
    "resume": (frozenset({State.PAUSED}), frozenset({State.QUEUED, State.PARKED, State.RESUMABLE})),
    "retry": (
        frozenset({State.FAILED, State.CANCELLED, State.PARKED}),
        frozenset({State.RESUMABLE, State.PARKED}),
    ),
}


class CallStatus(StrEnum):
    """One tool call. `waiting`: its body has yielded; `unknown`: a person is asked how it ended."""

    PENDING = "pending"
    GATED = "gated"
    STARTED = "started"
    WAITING = "waiting"
    UNKNOWN = "unknown"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    REJECTED = "rejected"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"


OPEN_CALLS = frozenset(
    {CallStatus.PENDING, CallStatus.GATED, CallStatus.STARTED, CallStatus.WAITING, CallStatus.UNKNOWN}
)


class Outcome(StrEnum):
    """How a wait ended. The first one written wins."""

    ANSWERED = "answered"
    APPROVED = "approved"
    REJECTED = "rejected"
    FIRED = "fired"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"


class Fate(StrEnum):
    """What became of an event."""

    MATCHED = "matched"
    EARLY = "early"
    LATE = "late"
    DUPLICATE = "duplicate"
    NOBODY_WAITING = "nobody_waiting"


class Priority:
    """Claim order: lower first. An operator's act, a wake, a fresh start."""

    OPERATOR = 0
    RESUME = 1
    FRESH = 2
    ALL = (0, 1, 2)


class Attention(StrEnum):
    """Why a session that must not be thrown away is set aside until a person acts."""

    UNREADABLE_STATE = "unreadable_state"
    MISSING_TOOL = "missing_tool"
    POISON = "poison"
    CONTEXT_TOO_LONG = "context_too_long"


def may(verb: str, before: State | None, after: State) -> bool:
    """Whether the table of edges lets `verb` move a session from `before` (None: not yet there) to `after`."""
    sources, targets = EDGES[verb]
    return after in targets and (before in sources if before is not None else not sources)
