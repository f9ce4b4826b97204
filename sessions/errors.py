"""The errors of the runtime that a person or a caller may see. The docstring's first line is the message."""

from typing import Any

from workspaces.errors import Conflict, Invalid


class AlreadyAnswered(Conflict):
    """This was already answered."""

    code = "already_answered"


class AmbiguousWait(Conflict):
    """Several questions are open: name the one you answer by `yield` or `tool_call_id`."""

    code = "ambiguous_wait"


class NotWaiting(Conflict):
    """Nothing is waiting for that here."""

    code = "not_waiting"


class SuspensionExpired(Conflict):
    """The deadline of this wait has passed and its session was settled: the answer was not delivered."""

    code = "suspension_expired"


class Ended(Conflict):
    """This session has ended."""

    code = "ended"


class WrongState(Conflict):
    """The session is not in a state in which that can be done."""

    code = "wrong_state"


class WrongKind(Invalid):
    """This wait takes another kind of answer."""

    code = "wrong_kind"


class LateAnswer(AlreadyAnswered):
    """Somebody else was first: your text was kept in the journal and not delivered."""

    def __init__(self, message: str = "", **extra: Any) -> None:
        super().__init__(message, delivered=False, **extra)
