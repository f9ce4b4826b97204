"""The timekeeper looks every second: what is not due costs it nothing, however much of it waits."""

from datetime import timedelta

import pytest
from django.db import connection

from sessions.engine import sweep
from sessions.models import Event, Frame, Yield
from tests.sessions.conftest import ASK, work
from workspaces import clock
from workspaces.ids import new_id

pytestmark = pytest.mark.django_db(transaction=True)

MANY = 3000


def filtered(statement, params):
    """How many rows the plan of *statement* reads and throws away, with indexes preferred."""
    with connection.cursor() as cursor:
        cursor.execute("SET enable_seqscan = off")
        cursor.execute(f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) {statement}", params)
        plan = [row[0] for row in cursor.fetchall()]
        cursor.execute("RESET enable_seqscan")
    return sum(int(line.rpartition(":")[2]) for line in plan if "Rows Removed by Filter" in line), plan


def test_waits_frames_and_events(start, worker):
    session = start([{"calls": [ASK]}])
    work(worker)
    now = clock.db_now()
    later = now + timedelta(days=1)
    wait = session.yields.get()
    frame = Frame.objects.get(session=session)
    waits, frames, events = [], [], []
    for number in range(MANY):
        waits.append(
            Yield(
                id=new_id(), session=session, workspace_id=wait.workspace_id, frame=wait.frame, call=new_id(),
                kind="ask_user", reason="question", event_key=f"ask_user:{number}", opened_at=now, deadline_at=later,
            )
        )  # fmt: skip
        frames.append(Frame(session=session, version=frame.version, path=f"0.{number}", deadline_at=later))
        events.append(Event(workspace_id=wait.workspace_id, event_key=f"external:{number}:", created_at=later))
    Yield.objects.bulk_create(waits)
    Frame.objects.bulk_create(frames)
    Event.objects.bulk_create(events)
    for statement, params in (
        (sweep.EXPIRED, [None, 500]),
        (sweep.OVERDUE, [None, 500]),
        (sweep.UNMATCHED, [500]),
    ):
        thrown_away, plan = filtered(statement, params)
        assert thrown_away == 0, plan
