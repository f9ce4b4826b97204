"""Attention: a session that cannot go on by itself and must not be thrown away stays parked until a person acts."""

from django.db import transaction

from sessions.engine.frontier import SCHEMA_VERSION, Frontier
from sessions.engine.journal import Entry
from sessions.engine.lease import Lease
from sessions.engine.sql import execute
from sessions.engine.store.rows import RUNNING_MS, Locked, fenced, write
from sessions.states import Attention
from workspaces import clock
from workspaces.values import canonical

SET_ASIDE = f""",
    state = 'parked', worker = NULL, fence = fence + 1, pause_requested = false, running_ms = {RUNNING_MS},
    attention = """

KEEP = """/* store.keep */
INSERT INTO agent_sessions_parkedstate (session_id, schema_version, frontier, parked_at)
VALUES (%s, %s, %s::jsonb, clock_timestamp())
ON CONFLICT (session_id) DO UPDATE SET schema_version = EXCLUDED.schema_version, frontier = EXCLUDED.frontier"""


def note(code: Attention, message: str) -> str:
    """The row's attention: `{code, message, since}` as JSON text."""
    return canonical({"code": str(code), "message": message, "since": clock.db_now().isoformat()})


def attend(locked: Locked, code: Attention, message: str, more: str = "") -> None:
    """Set a locked session aside. What was parked stays as it is."""
    entry = Entry("session.attention", {"code": str(code), "message": message})
    write(locked, SET_ASIDE + "%(attention)s::jsonb" + more, {"attention": note(code, message)}, [entry])


def set_aside(lease: Lease, frontier: Frontier, code: Attention, message: str) -> None:
    """Set the lease's session aside with its frontier. Raises LeaseLost."""
    attention = note(code, message)
    with transaction.atomic():
        entry = Entry("session.attention", {"code": str(code), "message": message})
        fenced(lease, [entry], SET_ASIDE + "%(attention)s::jsonb", attention=attention)
        execute(KEEP, [lease.session, SCHEMA_VERSION, frontier.as_json()])
