"""Dispatch: the one road to a tool's body, and so the one place where a gate can stand.

A turn: settle what a dead worker left, refuse what cannot run, ask the gates, open all cards and questions at once,
then go through the calls in the model's order until one waits. Calls behind a waiting one stay pending.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import structlog

from sessions.contracts import ReadyCall, RefusedCall, ToolError, YieldRequest
from sessions.definitions import Suspension
from sessions.engine import store
from sessions.engine.body import CallContext, error_text, failure, run_body
from sessions.engine.gates import GateCall, strictest
from sessions.engine.lease import LeaseLost
from sessions.engine.memory import CallRow
from sessions.engine.outcomes import settled, text_of
from sessions.engine.run import Run
from sessions.engine.sql import release_connection
from sessions.states import Attention, CallStatus

Prepare = Callable[[str, str], ReadyCall | RefusedCall]
PARALLEL = 8

log = structlog.get_logger(__name__)


class Dispatch:
    """The calls of a session's newest turn. `prepare(tool, arguments)` is the driver's toolbox."""

    def __init__(self, run: Run, prepare: Prepare, suspension: Suspension) -> None:
        self.run = run
        self.prepare = prepare
        self.suspension = suspension
        self.ready: dict[UUID, ReadyCall] = {}

    def turn(self) -> None:
        """Bring every call of the turn to its result. Raises Parked (or another Unwind) when it cannot now."""
        self._recover()
        self._look()
        cards = self._gate()
        opens = cards + self._questions({wait.call for wait in cards})
        while calls := self.run.memory.open_calls():
            blocked = self._next(calls, opens)
            opens = []
            if blocked:
                self.run.park()

    def _next(self, calls: list[CallRow], opens: list[store.NewWait]) -> bool:
        """Go on with the open calls; whether the next one waits. *opens* are opened first."""
        opening = {wait.call for wait in opens}
        if opens:
            if calls[0].id in opening:
                self.run.park(opens)
                self._mark(opens)
                return False
            self._open(opens)
        if self._all_safe() and all(c.status is CallStatus.PENDING for c in calls):
            self._together(calls)
            return False
        for call in calls:
            self.run.checkpoint()
            if call.status is CallStatus.PENDING:
                if self._one(call):
                    return True
            elif not self._settle(call):
                return True
        return False

    # -- what a dead worker left

    def _recover(self) -> None:
        """A call found `started` when the session is taken was its dead worker's: its tool says what that means."""
        unknown = []
        for call in self.run.memory.open_calls():
            if call.status is not CallStatus.STARTED:
                continue
            if call.on_crash == "rerun":
                store.rerun(self.run.lease, call.id, call.tool, (), "worker_died")
                call.status = CallStatus.PENDING
            elif call.on_crash == "cancelled":
                text = "Cancelled: its worker stopped while it ran."
                self.run.record([store.Result(call.id, call.tool, CallStatus.CANCELLED, text)])
            else:
                shown = {"tool": call.tool, "arguments": call.arguments, "started": True}
                unknown.append(
                    store.NewWait(
                        self.run.memory.frame,
                        call.id,
                        "unknown_outcome",
                        "question",
                        call.attempt,
                        "unknown",
                        shown=shown,
                    )
                )
        if unknown:
            self._open(unknown)

    # -- before anything runs

    def _look(self) -> None:
        """Find each call's tool and arguments; refuse with an error result what cannot run."""
        refused = []
        for call in self.run.memory.open_calls():
            found = self.prepare(call.tool, call.arguments)
            if isinstance(found, ReadyCall):
                self.ready[call.id] = found
            elif call.status is CallStatus.PENDING and call.attempt == 0:
                refused.append(failure(call, found.text))
            elif call.status is not CallStatus.UNKNOWN:
                self.run.set_aside(Attention.MISSING_TOOL, f"The call of {call.tool} cannot go on: {found.text}")
        if refused:
            self.run.record(refused)

    def _gate(self) -> list[store.NewWait]:
        """Ask the gates of every call that has not started; refusals are recorded, cards are returned to be opened."""
        cards, denied = [], []
        for call in self.run.memory.open_calls():
            if call.status is not CallStatus.PENDING or call.attempt > 0 or call.id not in self.ready:
                continue
            lease, claim = self.run.lease, self.run.claim
            tool = self.ready[call.id].tool
            verdict = strictest(
                GateCall(lease.session, lease.workspace, call.id, claim.version, claim.surface, tool, call.arguments)
            )
            if verdict.verdict == "deny":
                denied.append(store.Result(call.id, call.tool, CallStatus.REJECTED, f"Refused: {verdict.reason}"))
            elif verdict.verdict == "ask":
                shown = {"tool": call.tool, "arguments": call.arguments, "reason": verdict.reason, "card": verdict.card}
                cards.append(self._wait(call, YieldRequest("approval", "approval", shown), "gate"))
        if denied:
            self.run.record(denied)
        return cards

    def _questions(self, gated: set[UUID]) -> list[store.NewWait]:
        """The yield requests of every call that asks a person: made without side effects, opened for the whole turn.

        A gated one asks only after its gate.
        """
        opens, failed = [], []
        for call in self.run.memory.open_calls():
            ready = self.ready.get(call.id)
            if ready is None or not ready.tool.asks_person or call.status is not CallStatus.PENDING or call.id in gated:
                continue
            try:
                request = ready.tool.body(CallContext(self.run, call), ready.arguments)
            except ToolError as error:
                failed.append(failure(call, error_text(error, self.run.limits.result_bytes)[0]))
                continue
            except Exception as error:
                log.exception("tool_failed", tool=call.tool, call=str(call.id))
                failed.append(failure(call, f"The tool failed unexpectedly ({type(error).__name__})."))
                continue
            opens.append(self._wait(call, request, "body"))
        if failed:
            self.run.record(failed)
        return opens

    def _wait(self, call: CallRow, request: YieldRequest, phase: str) -> store.NewWait:
        expires = request.timeout_seconds
        if expires is None:
            expires = self.suspension.expires_seconds(request.reason)
        return store.NewWait(
            frame=self.run.memory.frame,
            call=call.id,
            kind=request.kind,
            reason=request.reason,
            attempt=call.attempt,
            phase=phase,
            event_key=request.event_key,
            shown=request.shown,
            schema=request.schema,
            expires_seconds=expires,
            on_expiry=self.suspension.expiry(request.reason),
            since=self.run.claim.created_at if request.event_key else None,
        )

    def _open(self, waits: list[store.NewWait], used: Sequence[UUID] = ()) -> None:
        store.open_waits(self.run.lease, waits, used)
        self._mark(waits)
        self.run.memory.look_at_waits()

    def _mark(self, waits: list[store.NewWait]) -> None:
        statuses = {"body": CallStatus.WAITING, "unknown": CallStatus.UNKNOWN, "gate": CallStatus.GATED}
        by_call = {w.call: statuses[w.phase] for w in waits}
        for call in self.run.memory.open_calls():
            call.status = by_call.get(call.id, call.status)

    # -- running

    def _all_safe(self) -> bool:
        calls = self.run.memory.open_calls()
        return len(calls) > 1 and all((r := self.ready.get(c.id)) and r.tool.concurrency_safe for c in calls)

    def _together(self, calls: list[CallRow]) -> None:
        """Run calls that are all declared safe side by side; their results are written together, in order."""
        self.run.checkpoint()
        store.start_calls(self.run.lease, [(c.id, c.tool) for c in calls])
        for call in calls:
            call.status, call.attempt = CallStatus.STARTED, call.attempt + 1
        release_connection()
        with ThreadPoolExecutor(min(PARALLEL, len(calls)), thread_name_prefix="layby-call") as pool:
            results = list(pool.map(self._ended, calls))
        if done := [r for r in results if isinstance(r, store.Result)]:
            self._record(calls, done)
        if lost := next((r for r in results if isinstance(r, BaseException)), None):
            raise lost
        waits = [self._wait(c, r, "body") for c, r in zip(calls, results, strict=True) if isinstance(r, YieldRequest)]
        if waits:
            self._open(waits)

    def _ended(self, call: CallRow) -> store.Result | YieldRequest | BaseException:
        # What stops one body must not lose the results of those beside it: they have run.
        try:
            return run_body(self.run, call, self.ready[call.id], self.run.limits.result_bytes)
        except BaseException as error:  # noqa: BLE001 - raised again once the others are written
            return error

    def _one(self, call: CallRow, used: Sequence[UUID] = ()) -> bool:
        """Run one call's body; whether it now waits. *used*: the waits whose outcome lets it run."""
        ready = self.ready[call.id]
        store.start_calls(self.run.lease, [(call.id, call.tool)], used)
        call.status, call.attempt = CallStatus.STARTED, call.attempt + 1
        result = run_body(self.run, call, ready, self.run.limits.result_bytes)
        if isinstance(result, YieldRequest):
            self._open([self._wait(call, result, "body")])
            return True
        self._record([call], [result])
        return False

    def _record(self, calls: list[CallRow], results: list[store.Result]) -> None:
        try:
            self.run.record(results)
        except LeaseLost:
            for result in results:
                attempt = next(c.attempt for c in calls if c.id == result.call)
                self.run.keep_late_result(result.call, attempt, result.text)
            raise

    # -- outcomes

    def _settle(self, call: CallRow) -> bool:
        """Turn the outcome of a call's wait into its result, or let it run; False: it is still open."""
        wait = self.run.memory.waits.get(call.id)
        if wait is None or wait.outcome is None:
            return False
        if wait.phase == "gate" and wait.outcome == "approved":
            # Used up by the very transaction that starts the body: a crash before it leaves the approval to be used.
            return self._go(call, [wait.id])
        if wait.phase == "unknown" and wait.outcome == "answered" and wait.payload.get("outcome") == "rerun":
            store.rerun(self.run.lease, call.id, call.tool, [wait.id], "a person decided")
            return self._go(call)
        ready = self.ready.get(call.id)
        status, value = settled(wait, ready.tool if ready else None)
        text, blob = text_of(value, self.run.limits.result_bytes)
        self.run.record([store.Result(call.id, call.tool, status, text, blob, (wait.id,))])
        return True

    def _go(self, call: CallRow, used: Sequence[UUID] = ()) -> bool:
        call.status = CallStatus.PENDING
        self.run.memory.waits.pop(call.id, None)
        ready = self.ready.get(call.id)
        if ready is None:
            self.run.set_aside(
                Attention.MISSING_TOOL, f"The call of {call.tool} cannot run again: there is no such tool."
            )
        if ready.tool.asks_person:
            request = ready.tool.body(CallContext(self.run, call), ready.arguments)
            self._open([self._wait(call, request, "body")], used)
            return False
        return not self._one(call, used)
