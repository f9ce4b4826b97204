"""The audit can't be changed; a notice reaches the members."""

import pytest
from django.db import DatabaseError, transaction

from workspaces import audit, queries
from workspaces.errors import Invalid
from workspaces.models import AuditEntry
from workspaces.notify import inform


@pytest.mark.parametrize("deed", ["update", "save", "delete", "bulk delete"])
def test_an_audit_entry_is_for_ever(ada_actor, acme, deed):
    entry = audit.record(ada_actor.with_by("Ada L."), "thing.done", acme, "thing", size=1)
    with pytest.raises(DatabaseError), transaction.atomic():
        match deed:
            case "update":
                AuditEntry.objects.update(action="nothing")
            case "save":
                entry.action = "nothing"
                entry.save()
            case "delete":
                entry.delete()
            case _:
                AuditEntry.objects.all().delete()
    kept = AuditEntry.objects.get()
    assert (kept.action, kept.actor_name, kept.actor_by, kept.data) == ("thing.done", "ada", "Ada L.", {"size": 1})


def test_who_decided_has_256_characters(ada_actor):
    assert ada_actor.with_by("x" * 256).as_json()["by"] == "x" * 256
    with pytest.raises(Invalid):
        ada_actor.with_by("x" * 257)
    with pytest.raises(Invalid):
        ada_actor.with_by("a\x00")


def test_a_notice_counts_the_members_who_get_it(acme, alice, bob, victor, mallory):
    victor.is_active = False
    victor.save()
    assert inform(acme, "Done.") == 2
    assert [notice.message for notice in queries.notifications(acme)] == ["Done."]


@pytest.mark.parametrize("message", ["", "  ", "x" * 8001])
def test_a_notice_has_1_to_8000_characters(acme, message):
    with pytest.raises(Invalid):
        inform(acme, message)
