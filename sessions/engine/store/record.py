"""What a worker writes while it drives: replies, starts, results, notes. Every write carries its lease."""

import hashlib
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction

from sessions.engine.journal import Entry
from sessions.engine.lease import Lease, LeaseLost, Paused
from sessions.engine.sql import execute, fetch
from sessions.engine.store.rows import TAKEN, fenced, hold, lock, write
from sessions.states import CallStatus
from workspaces.ids import new_id
from workspaces.values import canonical

MESSAGE = """/* store.record_message */
INSERT INTO agent_sessions_message (frame_id, n, session_id, turn, role, body, created_at)
VALUES (%s, %s, %s, %s, %s, %s, clock_timestamp())"""

REPLY = """message AS (
    INSERT INTO agent_sessions_message (frame_id, n, session_id, turn, role, body, created_at)
    SELECT %(frame)s, %(number)s, s.id, %(turn)s, 'assistant', %(body)s, clock_timestamp() FROM s
)"""

CALLS = """calls AS (
    INSERT INTO agent_sessions_call (id, session_id, frame, turn, position, provider_id, tool, arguments, digest,
        effect, on_crash, idempotency_key, status, attempt, created_at)
    SELECT c.id, s.id, %(frame)s, %(turn)s, c.n - 1, c.provider_id, c.tool, c.arguments, c.digest, c.effect,
        c.on_crash, c.id, 'pending', 0, clock_timestamp()
    FROM s CROSS JOIN unnest(%(ids)s::uuid[], %(providers)s::text[], %(tools)s::text[], %(arguments)s::text[],
        %(digests)s::text[], %(effects)s::text[], %(crashes)s::text[])
        WITH ORDINALITY AS c(id, provider_id, tool, arguments, digest, effect, on_crash, n)
)"""


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
    shown = {**facts, "turn": turn, "calls": [{"id": str(c.id), "tool": c.tool} for c in calls]}
    fenced(
        lease,
        [Entry("model.replied", shown)],
        ", model_calls = model_calls + 1, attempts = 0",
        name="store.record_reply",
        more=[REPLY, CALLS] if calls else [REPLY],
        frame=frame,
        number=n,
        turn=turn,
        body=body,
        ids=[c.id for c in calls],
        providers=[c.provider_id for c in calls],
        tools=[c.tool for c in calls],
        arguments=[c.arguments for c in calls],
        digests=[hashlib.sha256(c.arguments.encode()).hexdigest() for c in calls],
        effects=[c.effect for c in calls],
        crashes=[c.on_crash for c in calls],
    )


TAKE_STEERS = """/* store.take_steers: index steer_waiting */
UPDATE agent_sessions_steer SET taken_at = clock_timestamp() WHERE session_id = %s AND taken_at IS NULL
RETURNING id, text"""


def take_steers(lease: Lease, frame: UUID, n: int, turn: int) -> list[str]:
    """Turn what people sent into user messages from number *n* on; their texts in order. Raises LeaseLost.

    Under the session's lock, as `finish` looks: a message is either read by this turn or refuses the finish.
    """
    with transaction.atomic():
        hold(lease)
        if not (taken := sorted(fetch(TAKE_STEERS, [lease.session]))):
            lease.steered = False
            return []
        fenced(lease, [Entry("message.taken", {"message": str(row[0])}) for row in taken])
        for number, (_, text) in enumerate(taken, n):
            execute(MESSAGE, [frame, number, lease.session, turn, "user", canonical({"text": text})])
        return [row[1] for row in taken]


# `started` commits before the body runs; no body starts after the commit of a pause that was asked for.
START = """started AS (
    UPDATE agent_sessions_call c SET status = 'started', attempt = attempt + 1, started_at = clock_timestamp() FROM s
    WHERE c.id = ANY(%(calls)s) AND c.status IN ('pending', 'gated')
)"""

USED = """used AS (
    UPDATE agent_sessions_yield y SET taken_at = clock_timestamp() FROM s WHERE y.id = ANY(%(used)s)
)"""


def start_calls(lease: Lease, calls: Sequence[tuple[UUID, str]], used: Sequence[UUID] = ()) -> None:
    """Commit that the bodies of *calls* (id, tool) begin: each has one attempt more. Raises LeaseLost.

    *used*: the waits whose outcome lets them begin, used up by this start and by no other.

    Raises Paused if a pause was asked for: no body starts after the commit of that request.
    """
    entries = [Entry("call.started", {"call": str(id_), "tool": tool}) for id_, tool in calls]
    ids = [id_ for id_, _ in calls]
    while True:
        try:
            fenced(
                lease,
                entries,
                name="store.start_calls",
                guard=" AND NOT pause_requested",
                more=[START, USED] if used else [START],
                calls=ids,
                used=list(used),
            )
            return
        except LeaseLost:
            with transaction.atomic():
                hold(lease)  # raises LeaseLost if it is that
            if lease.pause_requested:
                raise Paused from None


@dataclass(frozen=True)
class Result:
    """How a call ended. `text` is what the model reads; `blob` the whole text if that one is shortened."""

    call: UUID
    tool: str
    status: CallStatus
    text: str
    blob: bytes | None = None
    waits: tuple[UUID, ...] = ()


# Written once.
RESULTS = """results AS (
    UPDATE agent_sessions_call c SET status = r.status, result = r.text, blob = r.blob, ended_at = clock_timestamp()
    FROM s CROSS JOIN unnest(%(calls)s::uuid[], %(statuses)s::text[], %(texts)s::text[], %(blobs)s::uuid[])
        AS r(id, status, text, blob)
    WHERE c.id = r.id AND c.result IS NULL
)"""

BLOBS = """blobs AS (
    INSERT INTO agent_sessions_blob (id, workspace_id, sha256, bytes, size)
    SELECT b.id, %(workspace)s, b.sha256, b.bytes, length(b.bytes)
    FROM s CROSS JOIN unnest(%(blob_ids)s::uuid[], %(digests)s::text[], %(bodies)s::bytea[]) AS b(id, sha256, bytes)
)"""

UNWRITTEN = "/* store.record_results */ SELECT id FROM agent_sessions_call WHERE id = ANY(%s) AND result IS NULL"


def record_results(lease: Lease, results: Sequence[Result], *, again: bool = False) -> None:
    """Write the results of calls and mark the waits they came from as used. Raises LeaseLost.

    `again`: an earlier try may have committed without our hearing of it; what it wrote is not written twice.
    """
    with transaction.atomic() if again else nullcontext():
        if again:
            hold(lease)
            unwritten = {row[0] for row in fetch(UNWRITTEN, [[r.call for r in results]])}
            results = [r for r in results if r.call in unwritten]
        entries = [Entry(f"call.{r.status}", {"call": str(r.call), "tool": r.tool}) for r in results]
        blobs = {r.call: new_id() for r in results if r.blob is not None}
        kept = [r.blob for r in results if r.blob is not None]
        waits = [w for r in results for w in r.waits]
        fenced(
            lease,
            entries,
            ", attempts = 0",
            name="store.record_results",
            more=[RESULTS, *([BLOBS] if blobs else []), *([USED] if waits else [])],
            calls=[r.call for r in results],
            statuses=[str(r.status) for r in results],
            texts=[r.text for r in results],
            blobs=[blobs.get(r.call) for r in results],
            workspace=lease.workspace,
            blob_ids=list(blobs.values()),
            digests=[hashlib.sha256(body).hexdigest() for body in kept],
            bodies=kept,
            used=waits,
        )


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
    fenced(lease, [entry])


LATE = """/* store.late_result */
INSERT INTO agent_sessions_lateresult (id, call_id, attempt, worker, fence, body, at)
VALUES (%s, %s, %s, %s, %s, %s, clock_timestamp())"""


def late_result(lease: Lease, call: UUID, attempt: int, text: str) -> None:
    """Keep the result of a body whose worker has lost the session: a note, never used."""
    with transaction.atomic():
        locked = lock(lease.session)
        execute(LATE, [new_id(), call, attempt, lease.worker, lease.fence, text])
        write(locked, "", {}, [Entry("result.late", {"call": str(call), "attempt": attempt})])
