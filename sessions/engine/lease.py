"""The lease, and the ways a drive ends before its session does.

`Unwind` derives from BaseException: what a tool catches with `except Exception` never swallows it. Each is raised only
after the rows say the same.
"""

from dataclasses import dataclass
from typing import Any
from uuid import UUID


class Unwind(BaseException):
    """Leave the driver: the rows already say how."""


class LeaseLost(Unwind):
    """Another side took the session (cancel, reclaim): stop quietly, write nothing."""


class Parked(Unwind):
    """The session is parked."""


class Paused(Unwind):
    """The session is paused, or a pause was asked for and the runner now carries it out."""


class Released(Unwind):
    """The worker is stopping: the session was given back."""


class SetAside(Unwind):
    """The session waits for attention."""


class Finished(Unwind):
    """The session has ended."""


@dataclass
class Lease:
    """The right to advance one session. `fence` only grows; both stand in the WHERE of every write of its holder.

    `model_calls` and `running_ms` are the row's counters since the last outside wake, kept fresh by each write;
    `steered`: whether a message of a person may wait for the next turn.
    """

    session: UUID
    workspace: UUID
    worker: UUID
    fence: int
    model_calls: int = 0
    running_ms: int = 0
    pause_requested: bool = False
    steered: bool = True

    def params(self, **more: Any) -> dict[str, Any]:
        """The parameters every fenced statement needs."""
        return {"session": self.session, "worker": self.worker, "fence": self.fence, **more}
