"""Events: stored first, matched second, so that an event is never lost between two looks.

`publish` commits the event; `match` then finds the open waits on its key and resolves each in its own transaction;
a crash between the two is healed by the sweep, which matches again. A repeat changes nothing: a wait has one outcome.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction

from sessions.engine.sql import fetch, fetch_one
from sessions.engine.store.early import settle_fate
from sessions.engine.store.park import bounded
from sessions.engine.store.resolve import resolve
from sessions.states import Fate, Outcome
from workspaces.actors import SYSTEM, Actor
from workspaces.ids import new_id
from workspaces.values import canonical

STORE = """/* store.publish */
INSERT INTO agent_sessions_event (id, workspace_id, event_key, name, correlation, payload, source, idempotency_key,
    created_at, woken)
VALUES (%(id)s, %(workspace)s, %(key)s, %(name)s, %(correlation)s, %(payload)s, %(source)s::jsonb, %(idempotency)s,
    clock_timestamp(), 0)
ON CONFLICT (workspace_id, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING RETURNING id"""

KNOWN = """/* store.publish */
SELECT id, fate, woken FROM agent_sessions_event WHERE workspace_id = %s AND idempotency_key = %s"""


@dataclass(frozen=True)
class Published:
    """The event's id, its fate so far and how many sessions it woke."""

    event: UUID
    fate: Fate
    woken: int


def publish(
    workspace: UUID,
    key: str,
    payload: Any,
    actor: Actor,
    *,
    name: str = "",
    correlation: str = "",
    idempotency_key: str | None = None,
) -> Published:
    """Accept an event on *key*: committed before this returns, then matched."""
    id_ = new_id()
    params: Mapping[str, Any] = {
        "id": id_,
        "workspace": workspace,
        "key": bounded(key),
        "name": name,
        "correlation": correlation,
        "payload": canonical(payload),
        "source": canonical(actor.as_json()),
        "idempotency": idempotency_key,
    }
    with transaction.atomic():
        stored = fetch_one(STORE, params)
        if stored is None:
            known = fetch_one(KNOWN, [workspace, idempotency_key])
            assert known is not None
            return Published(known[0], Fate.DUPLICATE, known[2])
    return match(id_)


EVENT = "/* store.match */ SELECT workspace_id, event_key, payload, created_at FROM agent_sessions_event WHERE id = %s"

WAITERS = """/* store.match: index yield_match */
SELECT id, session_id FROM agent_sessions_yield
WHERE workspace_id = %s AND event_key = %s AND outcome IS NULL AND (since IS NULL OR since <= %s)
ORDER BY session_id LIMIT 500"""


def match(event: UUID) -> Published:
    """Give a stored event to every wait open on its key; safe to repeat, safe beside another matcher."""
    row = fetch_one(EVENT, [event])
    assert row is not None
    workspace, key, payload, created = row
    seen: set[UUID] = set()
    # Each resolve closes its wait, so the next look is at others. One that stays open all the same ends the loop.
    while waiters := [row for row in fetch(WAITERS, [workspace, key, created]) if row[0] not in seen]:
        for wait, session in waiters:
            seen.add(wait)
            resolve(session, wait, Outcome.FIRED, json.loads(payload), SYSTEM, event=event)
    return Published(event, *settle_fate(event))
