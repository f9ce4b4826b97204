"""The load and what is measured of it, against worker processes that run already. Talks to the store and the rows only.

A park is counted when the row says so, a resume when the session has completed; a wake is the time between two moments
of the database's clock: the answer's outcome and the first write of the worker that goes on.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from config.bench.numbers import percentiles
from sessions.engine import store
from sessions.models import Agent
from sessions.operations.agents import create_agent
from sessions.operations.providers import seed
from sessions.states import Outcome
from workspaces.actors import SYSTEM
from workspaces.models import Workspace

HISTORY_BYTES = 20 * 1024
TABLES = ("session", "sessiontext", "frame", "message", "call", "yield", "parkedstate", "journal")
SCRIPT = [
    {"calls": [{"tool": "bench__nothing", "arguments": {}}]},
    {"calls": [{"tool": "system__ask_user", "arguments": {"prompt": "Go on?"}}]},
    {"say": "done"},
]

Say = Callable[[str], None]


@dataclass
class Place:
    """Where the benchmark's sessions live."""

    workspace: UUID
    version: UUID


def prepare() -> Place:
    """A workspace with the benchmark's agent."""
    workspace = Workspace.objects.create(slug="bench", name="Bench", created_by=SYSTEM.as_json())
    seed(SYSTEM, workspace)
    tools = ["bench", "system__ask_user"]
    agent: Agent = create_agent(
        SYSTEM, workspace, "bench", "Bench", {"model": "scripted:bench", "tools": tools, "script": SCRIPT}
    )
    assert agent.current is not None
    return Place(workspace.pk, agent.current.pk)


def start(place: Place, count: int) -> list[UUID]:
    """Start *count* sessions; their ids."""
    text = "x" * HISTORY_BYTES
    new = store.NewSession(workspace=place.workspace, version=place.version, input=text, title="bench", actor=SYSTEM)
    return [store.start(new)[0] for _ in range(count)]


# Sessions that only stand there (`crowd`) are on the other surface, so that the load's own can be counted.
COUNT = "SELECT count(*) FROM agent_sessions_session WHERE state = %s AND kind = 'agent' AND surface = 'workspace'"


def until(state: str, count: int, seconds: float = 900) -> float:
    """Wait until *count* of the load's sessions are in *state*; the monotonic moment that was seen."""
    ends, found = time.monotonic() + seconds, 0
    while time.monotonic() < ends:
        with connection.cursor() as cursor:
            cursor.execute(COUNT, [state])
            found = cursor.fetchone()[0]
        if found >= count:
            return time.monotonic()
        time.sleep(0.02)
    raise TimeoutError(f"{found} of {count} sessions were {state} after {seconds:.0f} s")


def open_waits() -> list[tuple[UUID, UUID]]:
    """(session, wait) of the load's open questions."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT y.session_id, y.id FROM agent_sessions_yield y JOIN agent_sessions_session s ON s.id = y.session_id"
            " WHERE y.outcome IS NULL AND s.surface = 'workspace' ORDER BY y.opened_at"
        )
        return list(cursor.fetchall())


def size() -> int:
    """Bytes on disk of all that a session is made of, indexes included."""
    with connection.cursor() as cursor:
        names = [f"agent_sessions_{table}" for table in TABLES]
        cursor.execute("SELECT sum(pg_total_relation_size(name::regclass)) FROM unnest(%s::text[]) AS name", [names])
        return int(cursor.fetchone()[0])


# The answer's outcome to the first write of the worker that goes on, both by the database's clock.
WAKE = """SELECT EXTRACT(EPOCH FROM j.at - y.outcome_at) * 1000 FROM agent_sessions_yield y
JOIN agent_sessions_journal j ON j.session_id = y.session_id AND j.kind = 'call.succeeded' AND j.at >= y.outcome_at
WHERE y.id = %s ORDER BY j.seq LIMIT 1"""


def wakes(place: Place, trials: int) -> dict[str, float | None]:
    """`{p50, p99}` milliseconds of *trials* single wakes, one after another."""
    found = []
    for _ in range(trials):
        (session,) = start(place, 1)
        wait = _parked(session)
        store.resolve(session, wait, Outcome.ANSWERED, "yes", SYSTEM)
        while True:
            with connection.cursor() as cursor:
                cursor.execute(WAKE, [wait])
                row = cursor.fetchone()
            if row is not None:
                break
            time.sleep(0.005)
        found.append(float(row[0]))
    return percentiles(found)


def _parked(session: UUID) -> UUID:
    while True:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT y.id FROM agent_sessions_yield y JOIN agent_sessions_session s ON s.id = y.session_id"
                " WHERE s.id = %s AND s.state = 'parked' AND y.outcome IS NULL",
                [session],
            )
            row = cursor.fetchone()
        if row is not None:
            return UUID(str(row[0]))
        time.sleep(0.005)


CROWD = """
WITH made AS (
    INSERT INTO agent_sessions_session (id, workspace_id, kind, version_id, surface, state, priority, ready_at, fence,
        attempts, pause_requested, seq, running_ms, model_calls, depth, started_by, created_at)
    SELECT gen_random_uuid(), %(workspace)s, 'agent', %(version)s, 'chat', 'parked', 2, clock_timestamp(), 1, 0, false,
        3, 5, 1, 0, '{"kind": "system", "id": null, "name": "bench"}', clock_timestamp()
    FROM generate_series(1, %(count)s) RETURNING id
), texts AS (
    INSERT INTO agent_sessions_sessiontext (session_id, title, input, metadata) SELECT id, 'crowd', '', '{}' FROM made
), frames AS (
    INSERT INTO agent_sessions_frame (id, session_id, kind, version, path, status)
    SELECT gen_random_uuid(), id, 'agent', %(version)s, '0', 'open' FROM made RETURNING id, session_id
), messages AS (
    INSERT INTO agent_sessions_message (frame_id, n, session_id, turn, role, body, created_at)
    SELECT id, 1, session_id, 0, 'user', %(body)s, clock_timestamp() FROM frames
), calls AS (
    INSERT INTO agent_sessions_call (id, session_id, frame, turn, position, provider_id, tool, arguments, digest,
        effect, on_crash, idempotency_key, status, attempt, created_at)
    SELECT gen_random_uuid(), session_id, id, 1, 0, '', 'system__ask_user', '{"prompt":"Go on?"}', '', 'read', 'rerun',
        gen_random_uuid(), 'waiting', 0, clock_timestamp() FROM frames RETURNING id, session_id, frame
), states AS (
    INSERT INTO agent_sessions_parkedstate (session_id, schema_version, frontier, parked_at)
    SELECT session_id, 1, '{}', clock_timestamp() FROM frames
)
INSERT INTO agent_sessions_yield (id, session_id, workspace_id, frame, call, phase, attempt, kind, reason, event_key,
    shown, opened_at, deadline_at, on_expiry, wakes)
SELECT gen_random_uuid(), session_id, %(workspace)s, frame, id, 'body', 0, 'ask_user', 'question',
    'ask_user:' || session_id || ':' || id, '{"prompt":"Go on?"}', clock_timestamp(),
    clock_timestamp() + interval '1 day', 'continue', 'turn' FROM calls"""


def crowd(place: Place, count: int, body_bytes: int, say: Say) -> None:
    """Add *count* parked sessions that nobody answers, as real rows."""
    body = '{"text":"' + "x" * body_bytes + '"}'
    for begun in range(0, count, 20_000):
        some = min(20_000, count - begun)
        parameters: dict[str, Any] = {
            "workspace": place.workspace,
            "version": place.version,
            "count": some,
            "body": body,
        }
        with connection.cursor() as cursor:
            cursor.execute(CROWD, parameters)
        if begun and begun % 200_000 == 0:
            say(f"{begun} parked sessions loaded")
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def run(place: Place, sessions: int, completed: int) -> dict[str, Any]:
    """Start, park, answer, complete *sessions* beside *completed* earlier ones: the rates and a parked one's bytes."""
    before = size()
    began = time.monotonic()
    start(place, sessions)
    parked = until("parked", sessions)
    each = (size() - before) / sessions
    waits = open_waits()
    answering = time.monotonic()
    for session, wait in waits:
        store.resolve(session, wait, Outcome.ANSWERED, "yes", SYSTEM)
    done = until("completed", completed + sessions)
    return {
        "parks_per_s": round(sessions / (parked - began), 1),
        "resumes_per_s": round(sessions / (done - answering), 1),
        "bytes_per_parked": round(each),
    }
