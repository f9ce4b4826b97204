"""The conversation: append-only messages, and what people sent for the next turn (steers)."""

import pgtrigger
from django.db import models
from django.db.models import Q

from sessions.models.session import Frame, Session
from workspaces.ids import new_id


class Message(models.Model):
    """One message of a frame. `body` is JSON text: `{"text": str, "extra": opaque or absent}`.

    `n` leaves room for results: an assistant message with k calls at n owns n..n+k, one number for each.
    """

    pk = models.CompositePrimaryKey("frame_id", "n")
    frame = models.ForeignKey(Frame, on_delete=models.CASCADE, db_constraint=False, db_index=False, related_name="+")
    n = models.IntegerField()
    session = models.ForeignKey(
        Session, on_delete=models.CASCADE, db_constraint=False, db_index=False, related_name="messages"
    )
    turn = models.IntegerField()
    role = models.CharField(max_length=10)
    body = models.TextField()
    created_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["session", "created_at"], name="message_session")]
        triggers = [pgtrigger.Protect(name="append_only", operation=pgtrigger.Update | pgtrigger.Delete)]


class Steer(models.Model):
    """A person's message for the next turn. It never counts as the answer to a question or an approval."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    session = models.ForeignKey(
        Session, on_delete=models.CASCADE, db_constraint=False, db_index=False, related_name="steers"
    )
    text = models.TextField()
    by = models.JSONField(default=dict)
    at = models.DateTimeField()
    taken_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["session"], name="steer_waiting", condition=Q(taken_at__isnull=True))]
