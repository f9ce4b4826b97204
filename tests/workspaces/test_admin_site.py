"""The admin site: superusers all, staff what the workspaces they administer have; no road around the operations."""

import pytest
from django.contrib import admin
from django.urls import reverse

from workspaces.models import ApiToken, AuditEntry, Membership, Notification, User, Workspace

MODELS = [Workspace, Membership, ApiToken, AuditEntry, Notification]


def address(model, name: str, *args) -> str:
    return reverse(f"admin:workspaces_{model._meta.model_name}_{name}", args=args)


@pytest.fixture
def staff_ada(ada):
    ada.is_staff = True
    ada.save()
    return ada


@pytest.mark.parametrize("model", [User, *MODELS])
def test_a_superuser_sees_every_list(browser_of, sue, ada, mallory, model):
    assert browser_of(sue).get(address(model, "changelist")).status_code == 200


@pytest.mark.parametrize("model", MODELS)
def test_staff_see_their_workspaces_rows_only(browser_of, staff_ada, mallory, other, model):
    page = browser_of(staff_ada).get(address(model, "changelist"))
    assert page.status_code == 200
    assert b"mallory" not in page.content
    assert b"other" not in page.content.replace(b"another", b"")


def test_staff_reach_no_foreign_row_by_its_address(browser_of, staff_ada, mallory, other):
    browser = browser_of(staff_ada)
    assert browser.get(address(Workspace, "change", other.pk)).status_code == 302
    assert browser.get(address(Membership, "change", Membership.objects.get(user=mallory).pk)).status_code == 302
    assert browser.post(address(Workspace, "change", other.pk), {"name": "taken over"}).status_code == 302
    other.refresh_from_db()
    assert other.name == "Other"


def test_staff_do_not_see_logins_or_make_workspaces(browser_of, staff_ada):
    browser = browser_of(staff_ada)
    assert browser.get(address(User, "changelist")).status_code == 403
    assert browser.get(address(User, "change", staff_ada.pk)).status_code == 403
    assert browser.get(address(Workspace, "add")).status_code == 403


def test_staff_who_administer_nothing_see_nothing(browser_of, alice):
    alice.is_staff = True
    alice.save()
    for model in [User, *MODELS]:
        assert browser_of(alice).get(address(model, "changelist")).status_code == 403


def test_somebody_who_is_not_staff_is_sent_away(browser_of, ada):
    assert browser_of(ada).get(address(Workspace, "changelist")).status_code == 302


def test_a_rename_leaves_an_audit_entry(browser_of, staff_ada, acme):
    browser_of(staff_ada).post(address(Workspace, "change", acme.pk), {"name": "Acme & Co", "slug": "stolen"})
    acme.refresh_from_db()
    assert (acme.name, acme.slug) == ("Acme & Co", "acme")
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.actor_name, entry.workspace) == ("admin.workspace.changed", "ada", acme)


def test_a_workspace_made_here_is_made_by_the_operation(browser_of, sue):
    response = browser_of(sue).post(address(Workspace, "add"), {"slug": "made", "name": "Made"})
    assert response.status_code == 302
    assert [m.user.username for m in Workspace.objects.get(slug="made").memberships.all()] == ["sue"]
    assert AuditEntry.objects.filter(action="workspace.created").count() == 1


def test_a_person_changed_here_leaves_an_audit_entry_without_the_password(browser_of, sue, alice):
    browser = browser_of(sue)
    browser.post(
        address(User, "add"),
        {"username": "nora", "usable_password": "true", "password1": "lay-by-99-x", "password2": "lay-by-99-x"},
    )
    assert User.objects.get(username="nora").check_password("lay-by-99-x")
    browser.post(
        reverse("admin:auth_user_password_change", args=[alice.pk]),
        {"usable_password": "true", "password1": "other-by-99-x", "password2": "other-by-99-x"},
    )
    alice.refresh_from_db()
    assert alice.check_password("other-by-99-x")
    actions = list(AuditEntry.objects.order_by("id").values_list("action", "target"))
    assert actions == [("user.created", "nora"), ("user.password_set", "alice")]
    assert "99-x" not in str(list(AuditEntry.objects.values()))


@pytest.mark.parametrize("model", MODELS)
def test_nothing_is_deleted_here(browser_of, sue, acme, alice, model):
    site = admin.site._registry[model]
    row = acme if model is Workspace else Membership.objects.get(user=alice) if model is Membership else None
    assert site.actions is None
    if row is not None:
        assert browser_of(sue).post(address(model, "delete", row.pk), {"post": "yes"}).status_code == 403
