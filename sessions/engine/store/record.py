"""What a worker writes while it drives: replies, starts, results, notes. Every write carries its lease."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction

from sessions.engine.journal import Entry
from sessions.engine.lease import Lease, Paused
from sessions.engine.sql import execute, fetch, fetch_one
from sessions.engine.store.rows import TAKEN, fenced, hold, lock, write
from sessions.states import CallStatus
from workspaces.ids import new_id
from workspaces.values import canonical

MESSAGE = """/* store.record_message */
INSERT INTO agent_sessions_message (frame_id, n, session_id, turn, role, body, created_at)
VALUES (%s, %s, %s, %s, %s, %s, clock_timestamp())"""

CALLS = """/* store.record_calls */
INSERT INTO agent_sessions_call (id, session_id, frame, turn, position, provider_id, tool, arguments, digest, effect,
    on_crash, idempotency_key, status, attempt, created_at) VALUES """
CALL_ROW = "(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, 'pending', 0, clock_timestamp())"


@dataclass(frozen=True)
class NewCall:
    """A call as it will be written: canonical arguments if they parse, else the model's text."""

    id: UUID
    provider_id: str
    tool: str
    arguments: str
    effect: str
    on_crash: str


def record_reply(
    lease: Lease, frame: UUID, n: int, turn: int, body: str, calls: Sequence[NewCall], facts: dict[str, Any]
) -> None:
    """Write a model's reply as message *n* of *frame* with its calls. Raises LeaseLost."""
    with transaction.atomic():
        shown = {**facts, "turn": turn, "calls": [{"id": str(c.id), "tool": c.tool} for c in calls]}
        fenced(lease, [Entry("model.replied", shown)], ", model_calls = model_calls + 1, attempts = 0")
        execute(MESSAGE, [frame, n, lease.session, turn, "assistant", body])
        if calls:
            params: list[Any] = []
            for position, call in enumerate(calls):
                digest = hashlib.sha256(call.arguments.encode()).hexdigest()
                params += [call.id, lease.session, frame, turn, position, call.provider_id, call.tool]
                params += [call.arguments, digest, call.effect, call.on_crash, call.id]
            execute(CALLS + ", ".join([CALL_ROW] * len(calls)), params)


TAKE_STEERS = """/* store.take_steers: index steer_waiting */
UPDATE agent_sessions_steer SET taken_at = clock_timestamp() WHERE session_id = %s AND taken_at IS NULL
RETURNING id, text"""

ANY_STEER = """/* store.any_steer: index steer_waiting */
SELECT 1 FROM agent_sessions_steer WHERE session_id = %s AND taken_at IS NULL LIMIT 1"""


def take_steers(lease: Lease, frame: UUID, n: int, turn: int) -> list[str]:
    """Turn what people sent into user messages from number *n* on; their texts in order. Raises LeaseLost.

    Under the session's lock, as `finish` looks: a message is either read by this turn or refuses the finish.
    """
    with transaction.atomic():
        if fetch_one(ANY_STEER, [lease.session]) is None:
            return []
        hold(lease)
        taken = sorted(fetch(TAKE_STEERS, [lease.session]))
        fenced(lease, [Entry("message.taken", {"message": str(row[0])}) for row in taken])
        for number, (_, text) in enumerate(taken, n):
            execute(MESSAGE, [frame, number, lease.session, turn, "user", canonical({"text": text})])
        return [row[1] for row in taken]


START = """/* store.start_calls: `started` commits before the body runs */
UPDATE agent_sessions_call SET status = 'started', attempt = attempt + 1, started_at = clock_timestamp()
WHERE id = ANY(%s) AND status IN ('pending', 'gated') RETURNING id, attempt"""


def start_calls(lease: Lease, calls: Sequence[tuple[UUID, str]], used: Sequence[UUID] = ()) -> dict[UUID, int]:
    """Commit that the bodies of *calls* (id, tool) begin; their attempt numbers. Raises LeaseLost.

    *used*: the waits whose outcome lets them begin, used up by this start and by no other.

    Raises Paused if a pause was asked for: no body starts after the commit of that request.
    """
    with transaction.atomic():
        fenced(lease, [Entry("call.started", {"call": str(id_), "tool": tool}) for id_, tool in calls])
        if lease.pause_requested:
            raise Paused
        started: dict[UUID, int] = dict(fetch(START, [[id_ for id_, _ in calls]]))
        if used:
            execute(TAKEN, [list(used)])
        return started


@dataclass(frozen=True)
class Result:
    """How a call ended. `text` is what the model reads; `blob` the whole text if that one is shortened."""

    call: UUID
    tool: str
    status: CallStatus
    text: str
    blob: bytes | None = None
    waits: tuple[UUID, ...] = ()


RESULT = """/* store.record_results: written once */
UPDATE agent_sessions_call SET status = %s, result = %s, blob = %s, ended_at = clock_timestamp()
WHERE id = %s AND result IS NULL"""

BLOB = """/* store.record_results */
INSERT INTO agent_sessions_blob (id, workspace_id, sha256, bytes, size) VALUES (%s, %s, %s, %s, %s)"""

UNWRITTEN = "/* store.record_results */ SELECT id FROM agent_sessions_call WHERE id = ANY(%s) AND result IS NULL"


def record_results(lease: Lease, results: Sequence[Result], *, again: bool = False) -> None:
    """Write the results of calls and mark the waits they came from as used. Raises LeaseLost.

    `again`: an earlier try may have committed without our hearing of it; what it wrote is not written twice.
    """
    with transaction.atomic():
        if again:
            hold(lease)
            unwritten = {row[0] for row in fetch(UNWRITTEN, [[r.call for r in results]])}
            results = [r for r in results if r.call in unwritten]
        entries = [Entry(f"call.{r.status}", {"call": str(r.call), "tool": r.tool}) for r in results]
        fenced(lease, entries, ", attempts = 0")
        for result in results:
            blob = None
            if result.blob is not None:
                blob = new_id()
                digest = hashlib.sha256(result.blob).hexdigest()
                execute(BLOB, [blob, lease.workspace, digest, result.blob, len(result.blob)])
            execute(RESULT, [str(result.status), result.text, blob, result.call])
        if waits := [w for r in results for w in r.waits]:
            execute(TAKEN, [waits])


AGAIN = """/* store.rerun */
UPDATE agent_sessions_call SET status = 'pending', started_at = NULL WHERE id = %s AND result IS NULL"""


def rerun(lease: Lease, call: UUID, tool: str, waits: Sequence[UUID], why: str) -> None:
    """Make a call whose worker died pending again, with its idempotency key. Raises LeaseLost."""
    with transaction.atomic():
        fenced(lease, [Entry("call.rerun", {"call": str(call), "tool": tool, "why": why})])
        execute(AGAIN, [call])
        if waits:
            execute(TAKEN, [list(waits)])


def note(lease: Lease, entry: Entry) -> None:
    """A journal entry of the holder's. Raises LeaseLost."""
    with transaction.atomic():
        fenced(lease, [entry])


LATE = """/* store.late_result */
INSERT INTO agent_sessions_lateresult (id, call_id, attempt, worker, fence, body, at)
VALUES (%s, %s, %s, %s, %s, %s, clock_timestamp())"""


def late_result(lease: Lease, call: UUID, attempt: int, text: str) -> None:
    """Keep the result of a body whose worker has lost the session: a note, never used."""
    with transaction.atomic():
        locked = lock(lease.session)
        execute(LATE, [new_id(), call, attempt, lease.worker, lease.fence, text])
        write(locked, "", [], [Entry("result.late", {"call": str(call), "attempt": attempt})])
