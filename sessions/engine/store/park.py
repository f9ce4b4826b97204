"""Open and park: how a session leaves the lane.

The race with an answer is removed by the session's lock: resolve writes an outcome under it, park looks at the
outcomes under it. Whoever comes second sees the other.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from sessions.engine.frontier import SCHEMA_VERSION, Frontier
from sessions.engine.journal import Entry
from sessions.engine.lease import Lease, LeaseLost
from sessions.engine.sql import execute, fetch
from sessions.engine.store.attention import KEEP
from sessions.engine.store.early import take_early
from sessions.engine.store.rows import RUNNING_MS, TAKEN, fenced, goes_on, hold, untaken
from workspaces.ids import new_id
from workspaces.values import canonical

MAX_KEY = 255


@dataclass(frozen=True)
class NewWait:
    """A wait to open. `expires_seconds` None: no deadline. `since`: events from then on count (keys others know)."""

    frame: UUID
    call: UUID
    kind: str
    reason: str
    attempt: int = 0
    phase: str = "body"
    event_key: str | None = None
    shown: Mapping[str, Any] = field(default_factory=dict)
    schema: Mapping[str, Any] | None = None
    expires_seconds: float | None = None
    on_expiry: str = "continue"
    since: datetime | None = None
    wakes: str = "turn"


def event_key(wait: NewWait, session: UUID) -> str:
    """The wait's key; one above 255 characters is replaced by its hash (a btree refuses long keys)."""
    prefix = {"unknown_outcome": "outcome", "ask_question": "ask_user"}.get(wait.kind, wait.kind)
    return bounded(wait.event_key or f"{prefix}:{session}:{wait.call}")


def bounded(key: str) -> str:
    """*key* as rows hold it, on both sides of a match."""
    return key if len(key) <= MAX_KEY else "sha256:" + hashlib.sha256(key.encode()).hexdigest()


OPEN = """/* store.open: the unique key (call, phase, attempt) makes a second opening nothing */
INSERT INTO agent_sessions_yield (id, session_id, workspace_id, frame, call, phase, attempt, kind, reason, event_key,
    since, shown, schema, opened_at, deadline_at, on_expiry, wakes) VALUES """
# One moment for both: the deadline is exactly so long after the opening. The session is locked, so nothing waits here.
OPEN_ROW = """(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, statement_timestamp(),
    statement_timestamp() + make_interval(secs => %s::double precision), %s, %s)"""
OPENED = " ON CONFLICT (call, phase, attempt) WHERE call IS NOT NULL DO NOTHING RETURNING id, call, kind, phase"

WAITING = """/* store.open */ UPDATE agent_sessions_call SET status = %s
WHERE id = ANY(%s) AND result IS NULL"""


def open_waits(lease: Lease, waits: Sequence[NewWait], used: Sequence[UUID] = ()) -> None:
    """Open *waits* and leave the session running; *used*: the waits that let them open. Raises LeaseLost."""
    with transaction.atomic():
        hold(lease)
        fenced(lease, _insert(lease, waits))
        if used:
            execute(TAKEN, [list(used)])


def _insert(lease: Lease, waits: Sequence[NewWait]) -> list[Entry]:
    params: list[Any] = []
    for w in waits:
        params += [new_id(), lease.session, lease.workspace, w.frame, w.call, w.phase, w.attempt, w.kind, w.reason]
        params += [event_key(w, lease.session), w.since, canonical(dict(w.shown))]
        params += [None if w.schema is None else canonical(dict(w.schema)), w.expires_seconds, w.on_expiry, w.wakes]
    opened = fetch(OPEN + ", ".join([OPEN_ROW] * len(waits)) + OPENED, params)
    for status, phases in (("waiting", ("body",)), ("unknown", ("unknown",)), ("gated", ("gate",))):
        if calls := [w.call for w in waits if w.phase in phases]:
            execute(WAITING, [status, calls])
    entries = [Entry("wait.opened", {"yield": str(i), "call": str(c), "kind": k}) for i, c, k, _ in opened]
    entries += [Entry("call.unknown", {"call": str(c)}) for _, c, _, phase in opened if phase == "unknown"]
    return entries


PARK = f""",
    state = 'parked', worker = NULL, fence = fence + 1, running_ms = {RUNNING_MS}, attempts = 0"""

# A park is a safe point: the pause that was asked for meanwhile is carried out in the same write.
PAUSE = f""",
    state = 'paused', worker = NULL, fence = fence + 1, running_ms = {RUNNING_MS}, attempts = 0,
    pause_requested = false"""


# The park of fresh waits in one statement, beside the session's UPDATE `s`. Their (call, phase, attempt) is new: were
# it not, the unique key would refuse the whole, visibly.
FRESH = """waits AS (
    INSERT INTO agent_sessions_yield (id, session_id, workspace_id, frame, call, phase, attempt, kind, reason,
        event_key, shown, schema, opened_at, deadline_at, on_expiry, wakes)
    SELECT w.id, s.id, %(workspace)s, w.frame, w.call, w.phase, w.attempt, w.kind, w.reason, w.event_key, w.shown,
        w.schema, statement_timestamp(), statement_timestamp() + make_interval(secs => w.seconds), w.on_expiry, 'turn'
    FROM s CROSS JOIN unnest(%(ids)s::uuid[], %(frames)s::uuid[], %(calls)s::uuid[], %(phases)s::text[],
        %(attempts)s::int[], %(waiting)s::text[], %(reasons)s::text[], %(keys)s::text[], %(shown)s::text[],
        %(schemas)s::text[], %(seconds)s::double precision[], %(expiries)s::text[])
        AS w(id, frame, call, phase, attempt, kind, reason, event_key, shown, schema, seconds, on_expiry)
)"""

WAIT_FOR = """calls AS (
    UPDATE agent_sessions_call c SET status = 'waiting' FROM s WHERE c.id = ANY(%(calls)s) AND c.result IS NULL
)"""

KEPT = """kept AS (
    INSERT INTO agent_sessions_parkedstate (session_id, schema_version, frontier, parked_at)
    SELECT s.id, %(version)s, %(frontier)s::jsonb, clock_timestamp() FROM s
)"""


def park_asking(lease: Lease, frontier: Frontier, opens: Sequence[NewWait]) -> bool:
    """Park in one statement in front of *opens*, fresh questions of a turn in which nothing else waits.

    Nothing is looked at: an open wait of its turn keeps a frame standing, whatever else there is, and an answer cannot
    come before this commit. False: a pause was asked for, take the longer way. Raises LeaseLost.
    """
    assert all(w.since is None and w.wakes == "turn" and w.phase == "body" for w in opens)
    ids = [new_id() for _ in opens]
    entries = [
        Entry("wait.opened", {"yield": str(i), "call": str(w.call), "kind": w.kind})
        for i, w in zip(ids, opens, strict=True)
    ]
    entries.append(Entry("session.parked", {"waits": [str(i) for i in ids]}))
    try:
        fenced(
            lease,
            entries,
            PARK,
            name="store.park",
            guard=" AND NOT pause_requested",
            more=[FRESH, WAIT_FOR, KEPT],
            workspace=lease.workspace,
            ids=ids,
            frames=[w.frame for w in opens],
            calls=[w.call for w in opens],
            phases=[w.phase for w in opens],
            attempts=[w.attempt for w in opens],
            waiting=[w.kind for w in opens],
            reasons=[w.reason for w in opens],
            keys=[event_key(w, lease.session) for w in opens],
            shown=[canonical(dict(w.shown)) for w in opens],
            schemas=[None if w.schema is None else canonical(dict(w.schema)) for w in opens],
            seconds=[None if w.expires_seconds is None else float(w.expires_seconds) for w in opens],
            expiries=[w.on_expiry for w in opens],
            version=SCHEMA_VERSION,
            frontier=frontier.as_json(),
        )
    except LeaseLost:
        with transaction.atomic():
            hold(lease)  # raises LeaseLost if it is that
        return False
    return True


def park(lease: Lease, frontier: Frontier, opens: Sequence[NewWait] = ()) -> bool:
    """Park the session, opening *opens* with it. False: refused, an outcome is there to go on with.

    One transaction: the parked state, the end of the lease, the state (paused, if that was asked for). Raises
    LeaseLost. A wait on a key that others know (`since`) must be opened and committed before: inside this transaction
    a publisher could not see it.
    """
    assert all(w.since is None for w in opens)
    with transaction.atomic():
        hold(lease)
        entries = _insert(lease, opens) if opens else []
        waits = untaken(lease.session)
        if keyed := [w for w in waits if w.outcome is None and w.since is not None]:
            # Store, commit, then look, on both sides: the publisher matches after its commit, we look after ours.
            early = take_early(lease, keyed)
            entries += early
            waits = untaken(lease.session) if early else waits
        if goes_on(waits):
            fenced(lease, entries)
            return False
        still = [str(w.id) for w in waits if w.outcome is None]
        if not still:
            raise RuntimeError("nothing is waited for: nobody would ever wake it")
        entries.append(Entry("session.parked", {"waits": still}))
        if lease.pause_requested:
            fenced(lease, [*entries, Entry("session.paused")], PAUSE)
        else:
            fenced(lease, entries, PARK)
        execute(KEEP, [lease.session, SCHEMA_VERSION, frontier.as_json()])
        return True
