"""Start: a session and its first frame and message, in one transaction."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import transaction

from sessions import hints
from sessions.engine import journal
from sessions.engine.journal import Entry
from sessions.engine.sql import execute, fetch_one, on_commit
from sessions.states import Priority
from workspaces.actors import Actor
from workspaces.ids import new_id
from workspaces.values import canonical


@dataclass(frozen=True)
class NewSession:
    """What a start needs. All texts are clean and within their bounds; the version belongs to the workspace."""

    workspace: UUID
    version: UUID
    input: str
    title: str
    actor: Actor
    surface: str = "workspace"
    metadata: Mapping[str, Any] = field(default_factory=dict)
    idempotency_key: str | None = None
    deadline_seconds: float | None = None
    priority: int = Priority.FRESH


SESSION = """/* store.start: the unique key decides, not a look before */
INSERT INTO agent_sessions_session (id, workspace_id, kind, version_id, surface, state, priority, ready_at, fence,
    attempts, pause_requested, seq, running_ms, model_calls, depth, started_by, idempotency_key, created_at)
VALUES (%(id)s, %(workspace)s, 'agent', %(version)s, %(surface)s, 'queued', %(priority)s, clock_timestamp(), 0,
    0, false, 1, 0, 0, 0, %(actor)s::jsonb, %(key)s, clock_timestamp())
ON CONFLICT (workspace_id, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING RETURNING id"""

KNOWN = """/* store.start */ SELECT id FROM agent_sessions_session WHERE workspace_id = %s AND idempotency_key = %s"""

REST = journal.within(
    """/* store.start */
WITH s AS (SELECT %(id)s::uuid AS id, 1 AS seq), {journalled}, text AS (
    INSERT INTO agent_sessions_sessiontext (session_id, title, input, metadata)
    VALUES (%(id)s, %(title)s, %(input)s, %(metadata)s)
), frame AS (
    INSERT INTO agent_sessions_frame (id, session_id, kind, version, path, status, deadline_at)
    VALUES (%(frame)s, %(id)s, 'agent', %(version)s, '0', 'open',
        clock_timestamp() + make_interval(secs => %(deadline)s::double precision))
)
INSERT INTO agent_sessions_message (frame_id, n, session_id, turn, role, body, created_at)
VALUES (%(frame)s, 1, %(id)s, 0, 'user', %(body)s, clock_timestamp())"""
)


def start(new: NewSession) -> tuple[UUID, bool]:
    """(session id, whether it was made now). With a known idempotency key the existing session comes back."""
    id_ = new_id()
    params: dict[str, Any] = {
        "id": id_,
        "workspace": new.workspace,
        "version": new.version,
        "surface": new.surface,
        "priority": new.priority,
        "actor": canonical(new.actor.as_json()),
        "key": new.idempotency_key,
        "title": new.title,
        "input": new.input,
        "metadata": canonical(dict(new.metadata)),
        "frame": new_id(),
        "deadline": new.deadline_seconds,
        "body": canonical({"text": new.input}),
    }
    with transaction.atomic():
        if fetch_one(SESSION, params) is None:
            known = fetch_one(KNOWN, [new.workspace, new.idempotency_key])
            assert known is not None
            return known[0], False
        entry = Entry("session.queued", {"version": str(new.version), "surface": new.surface}, new.actor.as_json())
        execute(REST, params | journal.params([entry]))
        journal.push(id_, new.workspace, 1)
        on_commit(hints.work)
    return id_, True
