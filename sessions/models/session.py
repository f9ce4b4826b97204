"""Sessions, their text, their frames and the parked state. Only `engine/store` writes a session's state."""

from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import Q
from django.db.models.functions import Upper

from sessions.models.agent import AgentVersion
from sessions.states import CLAIMABLE, State
from workspaces.ids import new_id
from workspaces.models import Workspace


class Session(models.Model):
    """One durable run. `worker` and `fence` are the lease: both stand in the WHERE of all its worker's writes.

    `running_ms` and `model_calls` count since the last wake by a person, event, trigger or file.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, db_index=False, related_name="+")
    kind = models.CharField(max_length=8, default="agent")
    version = models.ForeignKey(AgentVersion, on_delete=models.PROTECT, db_index=False, related_name="+")
    surface = models.CharField(max_length=10, default="workspace")
    state = models.CharField(max_length=10)
    attention = models.JSONField(null=True)
    priority = models.SmallIntegerField(default=2)
    ready_at = models.DateTimeField()
    worker = models.UUIDField(null=True)
    claimed_at = models.DateTimeField(null=True)
    fence = models.BigIntegerField(default=0)
    attempts = models.SmallIntegerField(default=0)
    pause_requested = models.BooleanField(default=False)
    seq = models.BigIntegerField(default=0)
    running_ms = models.BigIntegerField(default=0)
    model_calls = models.IntegerField(default=0)
    parent_session = models.UUIDField(null=True)
    parent_call = models.UUIDField(null=True)
    depth = models.SmallIntegerField(default=0)
    started_by = models.JSONField(default=dict)
    idempotency_key = models.CharField(max_length=255, null=True)
    failure_code = models.CharField(max_length=40, null=True)
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            # claim: engine/store/claim.py
            models.Index(
                fields=["priority", "workspace", "ready_at"],
                name="session_claim",
                condition=Q(state__in=sorted(CLAIMABLE)),
            ),
            # reclaim, held: engine/store/claim.py
            models.Index(fields=["worker"], name="session_reclaim", condition=Q(state=State.RUNNING)),
            # lists: queries.session_rows
            models.Index(fields=["workspace", "state", "-id"], name="session_list"),
            models.Index(fields=["parent_session"], name="session_children", condition=Q(parent_session__isnull=False)),
            # inbox: queries.inbox
            models.Index(fields=["workspace"], name="session_attention", condition=Q(attention__isnull=False)),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "idempotency_key"],
                name="session_idempotency_key",
                condition=Q(idempotency_key__isnull=False),
            ),
            models.CheckConstraint(condition=Q(state__in=[str(s) for s in State]), name="session_state_known"),
            models.CheckConstraint(
                condition=Q(attention__isnull=True) | Q(state__in=[State.PARKED, State.PAUSED]),
                name="session_attention_only_parked",
            ),
            models.CheckConstraint(
                condition=Q(state=State.RUNNING, worker__isnull=False)
                | (~Q(state=State.RUNNING) & Q(worker__isnull=True)),
                name="session_lease_only_running",
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)


class SessionText(models.Model):
    """What people read of a session, kept out of the hot row."""

    session = models.OneToOneField(Session, on_delete=models.CASCADE, primary_key=True, related_name="text")
    title = models.CharField(max_length=200, default="")
    input = models.TextField(default="")
    output = models.TextField(null=True)
    failure_message = models.TextField(null=True)
    metadata = models.TextField(default="{}")

    class Meta:
        indexes = [GinIndex(OpClass(Upper("title"), name="gin_trgm_ops"), name="session_title_search")]


class Frame(models.Model):
    """One level of the call stack. The root (path "0") is the session's own agent or graph."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    session = models.ForeignKey(
        Session, on_delete=models.CASCADE, db_constraint=False, db_index=False, related_name="frames"
    )
    parent_frame = models.UUIDField(null=True)
    parent_call = models.UUIDField(null=True)
    parent_node = models.CharField(max_length=64, null=True)
    kind = models.CharField(max_length=8, default="agent")
    version = models.UUIDField()
    path = models.CharField(max_length=255, default="0")
    status = models.CharField(max_length=12, default="open")
    deadline_at = models.DateTimeField(null=True)
    output = models.TextField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "path"], name="frame_path")]
        indexes = [
            # fail_overdue: engine/sweep.py
            models.Index(
                fields=["deadline_at"], name="frame_deadline", condition=Q(deadline_at__isnull=False, status="open")
            )
        ]


class ParkedState(models.Model):
    """What a worker needs to go on, from the park to the resuming worker's first write. Claim reads and deletes it."""

    session = models.OneToOneField(Session, on_delete=models.CASCADE, primary_key=True, related_name="parked_state")
    schema_version = models.SmallIntegerField()
    frontier = models.JSONField()
    parked_at = models.DateTimeField()
