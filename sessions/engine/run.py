"""What a driver knows of the engine: one claimed session, its memory, and the acts that move it.

Every act either has written its rows when it returns, or raises an `Unwind` after the rows say why.
"""

import time
from collections.abc import Sequence
from typing import Any, NoReturn
from uuid import UUID

import structlog
from django.db import InterfaceError, OperationalError

from sessions.contracts import ModelReply
from sessions.definitions import Limits
from sessions.engine import limits as bounds
from sessions.engine import store
from sessions.engine.frontier import Frontier
from sessions.engine.journal import Entry
from sessions.engine.lease import Finished, LeaseLost, Parked, Paused, Released, SetAside
from sessions.engine.memory import CallRow, Memory, MessageRow
from sessions.engine.process import Process
from sessions.engine.sql import fetch_one, release_connection
from sessions.engine.store.claim import Claim
from sessions.states import Attention, CallStatus
from workspaces.values import canonical

HOLDS = """/* run.holds */
SELECT pause_requested FROM agent_sessions_session WHERE id = %s AND worker = %s AND fence = %s AND state = 'running'"""

log = structlog.get_logger(__name__)


class Run:
    """A session in a worker's hand."""

    def __init__(self, process: Process, claim: Claim) -> None:
        self.process = process
        self.claim = claim
        self.lease = claim.lease
        self.memory = Memory.load(claim.lease.session, fresh=claim.lease.fence == 1)
        self.limits = Limits()

    # -- safe points

    def checkpoint(self) -> None:
        """A safe point: between a turn's calls and before a model call. Stops for pause, shutdown, limits."""
        if self.lease.pause_requested:
            raise Paused
        if self.process.stopping.is_set():
            store.release(self.lease)
            raise Released
        if not self.process.lease_holds():
            raise LeaseLost  # our heartbeat is late: somebody else may have the session
        if over := bounds.over_time(self.limits, self.lease):
            self.fail(*over)

    def still_holds(self) -> bool:
        """Whether the session is still this worker's. Notes a pause that was asked for."""
        row = fetch_one(HOLDS, [self.lease.session, self.lease.worker, self.lease.fence])
        release_connection()
        if row is None:
            return False
        self.lease.pause_requested = row[0]
        return True

    def wait(self, seconds: float) -> None:
        """Sleep up to *seconds*, ending early by `Unwind` when the session was taken, paused or the worker stops."""
        release_connection()
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if self.process.stopping.wait(min(left, 1.0)):
                break
            if not self.still_holds():
                raise LeaseLost
            if self.lease.pause_requested:
                break
        self.checkpoint()

    # -- acts

    def take_steers(self) -> bool:
        """Turn waiting messages of people into the next user messages; whether there were any."""
        if not self.lease.steered:
            return False
        memory = self.memory
        texts = store.take_steers(self.lease, memory.frame, memory.next_n, memory.turn)
        for text in texts:
            memory.messages.append(MessageRow(memory.next_n, memory.turn, "user", text))
        return bool(texts)

    def before_model_call(self) -> None:
        """Refuse the next model call if a limit says so; then give the connection back."""
        if over := bounds.reached(self.limits, self.lease):
            self.fail(*over)
        release_connection()

    def record_reply(self, reply: ModelReply, calls: Sequence[store.NewCall], facts: dict[str, Any]) -> None:
        """Write a reply as the next turn."""
        memory = self.memory
        n, turn = memory.next_n, memory.turn + 1
        body: dict[str, Any] = {"text": reply.text}
        if reply.extra is not None:
            body["extra"] = reply.extra
        store.record_reply(self.lease, memory.frame, n, turn, canonical(body), calls, facts)
        memory.messages.append(MessageRow(n, turn, "assistant", reply.text, reply.extra))
        memory.calls[turn] = [
            CallRow(c.id, turn, i, c.tool, c.arguments, c.on_crash, c.id, CallStatus.PENDING, 0, None)
            for i, c in enumerate(calls)
        ]

    def record(self, results: Sequence[store.Result]) -> None:
        """Write results, trying again while the database is away; a result that has run is never lost for that."""
        again, pause = False, 0.1
        while True:
            try:
                store.record_results(self.lease, results, again=again)
                break
            except (OperationalError, InterfaceError) as error:
                log.warning("result_not_saved_yet", session=str(self.lease.session), error=type(error).__name__)
                release_connection()
                again = True
                time.sleep(pause)
                pause = min(pause * 2, 2.0)
        by_id = {r.call: r for r in results}
        for call in self.memory.calls.get(self.memory.turn, ()):
            if result := by_id.get(call.id):
                call.status, call.result = result.status, result.text
                self.memory.waits.pop(call.id, None)

    def note(self, kind: str, data: dict[str, Any]) -> None:
        """A journal entry."""
        store.note(self.lease, Entry(kind, data))

    def frontier(self) -> Frontier:
        """Where the session stands now."""
        calls = tuple(str(c.id) for c in self.memory.open_calls())
        return Frontier(
            str(self.memory.frame), self.memory.turn, calls, tuple(str(w.id) for w in self.memory.waits.values())
        )

    def park(self, opens: Sequence[store.NewWait] = ()) -> None:
        """Park, opening *opens* with it: raises Parked. Returns if an outcome has come: look at the waits again."""
        fresh = opens and not self.memory.waits and all(w.phase == "body" for w in opens)
        if fresh and store.park_asking(self.lease, self.frontier(), opens):
            raise Parked
        if store.park(self.lease, self.frontier(), opens):
            raise Parked
        self.memory.look_at_waits()

    def finish(self, output: str) -> None:
        """Complete the session: raises Finished. Returns if a person's message came first."""
        if store.finish(self.lease, output):
            raise Finished

    def fail(self, code: str, message: str) -> NoReturn:
        """End the session as failed."""
        store.fail(self.lease, code, message)
        raise Finished

    def set_aside(self, code: Attention, message: str) -> NoReturn:
        """Keep the session for a person's attention."""
        store.set_aside(self.lease, self.frontier(), code, message)
        raise SetAside

    def keep_late_result(self, call: UUID, attempt: int, text: str) -> None:
        """The body ran but the session was taken meanwhile: keep the text as a note."""
        try:
            store.late_result(self.lease, call, attempt, text)
        except (OperationalError, InterfaceError) as error:
            log.warning("late_result_not_kept", call=str(call), error=type(error).__name__)
