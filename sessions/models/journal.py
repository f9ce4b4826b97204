"""The journal: what happened to a session, append-only, numbered without gaps. `engine/journal.py` writes it."""

import pgtrigger
from django.contrib.postgres.indexes import BrinIndex
from django.db import models

from sessions.models.session import Session


class JournalEntry(models.Model):
    """One entry. `data` is JSON text; `actor` is `{"kind", "id", "name"}`. The database refuses update and delete."""

    pk = models.CompositePrimaryKey("session_id", "seq")
    session = models.ForeignKey(
        Session, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="journal"
    )
    seq = models.BigIntegerField()
    kind = models.CharField(max_length=32)
    actor = models.JSONField()
    data = models.TextField(default="{}")
    at = models.DateTimeField()

    class Meta:
        db_table = "agent_sessions_journal"
        indexes = [BrinIndex(fields=["at"], name="journal_at")]
        triggers = [pgtrigger.Protect(name="append_only", operation=pgtrigger.Update | pgtrigger.Delete)]
