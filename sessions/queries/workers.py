"""Worker processes and how much there is to do: who is alive, how busy, what waits for a slot."""

from datetime import timedelta
from typing import Any

from django.conf import settings

from sessions.models import Session, Worker, Yield
from sessions.states import CLAIMABLE
from workspaces import clock
from workspaces.models import Workspace

MAX_WORKERS = 500
COUNTED = 10_000


def workers_document(workspace: Workspace) -> dict[str, Any]:
    """`{items: [worker], next_cursor: None, queue_depth, oldest_ready_at, oldest_due_at}`. Four statements.

    Workers serve every workspace; the three numbers are of *workspace* alone. `queue_depth` counts its sessions that
    a worker could take now, up to 10,000; `oldest_ready_at`: since when the oldest of them could;
    `oldest_due_at`: the earliest moment of a wait that is due and not settled yet.
    """
    now = clock.db_now()
    ready = Session.objects.filter(workspace=workspace, state__in=sorted(CLAIMABLE))
    due = Yield.objects.filter(workspace=workspace, outcome__isnull=True, deadline_at__lte=now)
    workers = Worker.objects.order_by("-alive_until")[:MAX_WORKERS]
    waiting = list(ready.order_by("ready_at").values_list("ready_at", flat=True)[:COUNTED])
    return {
        "items": [_worker(worker) | {"alive": worker.alive_until > now} for worker in workers],
        "next_cursor": None,
        "queue_depth": len(waiting),
        "oldest_ready_at": waiting[0] if waiting else None,
        "oldest_due_at": due.order_by("deadline_at").values_list("deadline_at", flat=True).first(),
    }


def _worker(worker: Worker) -> dict[str, Any]:
    return {
        "id": str(worker.boot_id),
        "host": worker.host,
        "pid": worker.pid,
        "slots": worker.slots,
        "busy": worker.busy,
        "held": worker.held,
        "stopping": worker.stopping,
        "started_at": worker.started_at,
        "last_heartbeat_at": worker.alive_until - timedelta(seconds=settings.LEASE_SECONDS),
        "alive_until": worker.alive_until,
    }
