"""Events: immutable facts published on an event key, with their fate."""

from django.db import models
from django.db.models import Q

from workspaces.ids import new_id
from workspaces.models import Workspace


class Event(models.Model):
    """Stored first, matched second. The payload never changes; `matched_at`, `fate` and `woken` may."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, db_index=False, related_name="+")
    event_key = models.CharField(max_length=255)
    name = models.CharField(max_length=200, default="")
    correlation = models.CharField(max_length=200, default="")
    payload = models.TextField(default="null")
    source = models.JSONField(default=dict)
    idempotency_key = models.CharField(max_length=255, null=True)
    created_at = models.DateTimeField()
    matched_at = models.DateTimeField(null=True)
    fate = models.CharField(max_length=16, null=True)
    woken = models.IntegerField(default=0)

    class Meta:
        indexes = [
            models.Index(fields=["workspace", "event_key", "created_at"], name="event_key"),
            # redo: engine/sweep.py
            models.Index(fields=["created_at"], name="event_unmatched", condition=Q(matched_at__isnull=True)),
            models.Index(fields=["workspace", "-id"], name="event_ledger"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "idempotency_key"],
                name="event_idempotency_key",
                condition=Q(idempotency_key__isnull=False),
            )
        ]
