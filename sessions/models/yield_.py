"""Waits. A yield is one wait of a session: what would end it, by when, what to show, and how it ended."""

from django.db import models
from django.db.models import F, Q

from sessions.models.session import Session
from workspaces.ids import new_id
from workspaces.models import Workspace

OPEN = Q(outcome__isnull=True)


class Yield(models.Model):
    """`wakes`: "turn" (the frame goes on when all its open yields have an outcome) or "each" (graphs).

    `taken_at`: the driver has used the outcome. `shown`, `schema`, `baseline` and `payload` are JSON text.
    The session of a yield never changes, so it may be read without a lock.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, db_index=False, related_name="yields")
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, db_index=False, related_name="+")
    frame = models.UUIDField()
    call = models.UUIDField(null=True)
    node = models.CharField(max_length=64, null=True)
    phase = models.CharField(max_length=8, default="body")
    attempt = models.SmallIntegerField(default=0)
    kind = models.CharField(max_length=16)
    reason = models.CharField(max_length=12)
    event_key = models.CharField(max_length=255)
    since = models.DateTimeField(null=True)
    shown = models.TextField(default="{}")
    schema = models.TextField(null=True)
    baseline = models.TextField(null=True)
    opened_at = models.DateTimeField()
    wake_at = models.DateTimeField(null=True)
    deadline_at = models.DateTimeField(null=True)
    on_expiry = models.CharField(max_length=8, default="continue")
    wakes = models.CharField(max_length=4, default="turn")
    outcome = models.CharField(max_length=10, null=True)
    outcome_by = models.JSONField(null=True)
    outcome_at = models.DateTimeField(null=True)
    payload = models.TextField(null=True)
    event = models.UUIDField(null=True)
    taken_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            # Opening is idempotent: a crash makes no second card.
            models.UniqueConstraint(
                fields=["call", "phase", "attempt"], name="yield_once", condition=Q(call__isnull=False)
            ),
            models.UniqueConstraint(
                fields=["session", "event_key"], name="yield_breakpoint_once", condition=Q(call__isnull=True) & OPEN
            ),
        ]
        indexes = [
            # match: engine/store/publish.py
            models.Index(fields=["workspace", "event_key"], name="yield_match", condition=OPEN),
            # expire: engine/sweep.py
            models.Index(fields=["deadline_at"], name="yield_expire", condition=OPEN & Q(deadline_at__isnull=False)),
            # page: queries.yields_of
            models.Index(fields=["session", "opened_at"], name="yield_session"),
            # park, resolve, cancel: engine/store
            models.Index(fields=["session"], name="yield_untaken", condition=Q(taken_at__isnull=True)),
            # inbox: queries.inbox
            models.Index(
                F("workspace"),
                F("deadline_at"),
                F("id"),
                name="yield_inbox",
                condition=OPEN & Q(reason__in=["approval", "question", "breakpoint"]),
            ),
            # "already taken": engine/store/publish.py
            models.Index(fields=["event"], name="yield_event", condition=Q(event__isnull=False)),
        ]
