"""Tool calls, their results, and what came too late."""

from django.db import models
from django.db.models import Q

from sessions.models.session import Session
from sessions.states import OPEN_CALLS
from workspaces.ids import new_id
from workspaces.models import Workspace


class Call(models.Model):
    """One call of a turn: (frame, turn, position) and our id; the provider's id is data.

    `arguments` is the canonical text of the parsed arguments, or what the model wrote if it does not parse.
    `result` is exactly the text the model reads. It is written once.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    session = models.ForeignKey(
        Session, on_delete=models.CASCADE, db_constraint=False, db_index=False, related_name="calls"
    )
    frame = models.UUIDField()
    turn = models.IntegerField()
    position = models.SmallIntegerField()
    provider_id = models.TextField(default="")
    tool = models.TextField()
    arguments = models.TextField()
    digest = models.CharField(max_length=64, default="")
    effect = models.CharField(max_length=12, default="write")
    on_crash = models.CharField(max_length=10, default="unknown")
    idempotency_key = models.UUIDField(default=new_id)
    status = models.CharField(max_length=10)
    attempt = models.SmallIntegerField(default=0)
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    result = models.TextField(null=True)
    blob = models.UUIDField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["frame", "turn", "position"], name="call_place")]
        indexes = [
            # settle: engine/store/close.py
            models.Index(fields=["session"], name="call_open", condition=Q(status__in=sorted(OPEN_CALLS))),
            # page: queries.transcript
            models.Index(fields=["session", "turn"], name="call_session"),
        ]


class LateResult(models.Model):
    """The result of a body whose worker had lost the right to write it: kept as a note, never used."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    call = models.ForeignKey(Call, on_delete=models.CASCADE, db_constraint=False, related_name="late_results")
    attempt = models.SmallIntegerField()
    worker = models.UUIDField()
    fence = models.BigIntegerField()
    body = models.TextField()
    at = models.DateTimeField()


class Blob(models.Model):
    """A result too large for the model's eyes, whole."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, db_index=False, related_name="+")
    sha256 = models.CharField(max_length=64)
    bytes = models.BinaryField()
    size = models.BigIntegerField()
