"""Run one tool body: with its context, without a database connection, and never without a result."""

import asyncio
import time
from uuid import UUID

import structlog

from sessions.contracts import ReadyCall, ToolError, YieldRequest
from sessions.engine import store
from sessions.engine.lease import LeaseLost
from sessions.engine.limits import HARD_RESULT_BYTES
from sessions.engine.memory import CallRow
from sessions.engine.outcomes import text_of
from sessions.engine.run import Run
from sessions.engine.sql import release_connection
from sessions.states import CallStatus
from workspaces import notify

log = structlog.get_logger(__name__)


class CallContext:
    """What a body knows of the runtime: `contracts.ToolContext`."""

    def __init__(self, run: Run, call: CallRow) -> None:
        self._run = run
        self._asked = 0.0
        self._gone = False
        self.session_id = str(run.lease.session)
        self.call_id = str(call.id)
        self.idempotency_key = str(call.idempotency_key)
        self.workspace_slug = run.claim.workspace_slug
        self.surface = run.claim.surface
        self.attempt = call.attempt

    def inform(self, message: str) -> int:
        """See `contracts.ToolContext.inform`."""
        try:
            # The call's id is the notice's: a rerun after a crash publishes nothing twice.
            return notify.inform(
                self._run.lease.workspace, message, session_id=self._run.lease.session, id_=UUID(self.call_id)
            )
        finally:
            release_connection()

    def cancelled(self) -> bool:
        """See `contracts.ToolContext.cancelled`; the rows are asked at most once a second."""
        if not self._gone and time.monotonic() - self._asked > 1.0:
            self._gone = not self._run.still_holds()
            self._asked = time.monotonic()
        return self._gone


def failure(call: CallRow, text: str) -> store.Result:
    """An ordinary unsuccessful result."""
    return store.Result(call.id, call.tool, CallStatus.FAILED, text)


def error_text(error: ToolError, limit: int | None) -> tuple[str, bytes | None]:
    """What the model reads of *error*, and the whole if that was shortened."""
    return text_of(str(error)[: HARD_RESULT_BYTES // 4] or "The tool failed and did not say why.", limit)


def run_body(run: Run, call: CallRow, ready: ReadyCall, limit: int | None) -> store.Result | YieldRequest:
    """Run the body of a started call; what it gave, as the result to write. Raises LeaseLost before it begins."""
    if not run.process.lease_holds():
        raise LeaseLost  # frozen past our lease between the start and here: its outcome is for others to settle
    release_connection()
    try:
        value = ready.tool.body(CallContext(run, call), ready.arguments)
        if isinstance(value, YieldRequest):
            return value
        text, blob = text_of(value, limit)
        return store.Result(call.id, call.tool, CallStatus.SUCCEEDED, text, blob)
    except ToolError as error:
        text, blob = error_text(error, limit)
        return store.Result(call.id, call.tool, CallStatus.FAILED, text, blob)
    except (Exception, SystemExit, asyncio.CancelledError) as error:
        # sys.exit() in a library, or a task of its own that was cancelled, ends the body and not our thread.
        # The details are for our log: an exception's text may hold anything.
        log.exception("tool_failed", tool=call.tool, call=str(call.id))
        return failure(call, f"The tool failed unexpectedly ({type(error).__name__}).")
