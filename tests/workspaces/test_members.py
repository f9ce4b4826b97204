"""Members: added, made, changed, removed; never the last admin."""

import threading

import pytest
from django.db import connection

from tests.cast import PASSWORD, person
from workspaces import operations
from workspaces.actors import Actor
from workspaces.errors import Forbidden, Invalid, NotFound
from workspaces.models import AuditEntry, Membership, User
from workspaces.operations import AlreadyMember, LastAdmin, UsernameTaken
from workspaces.roles import Role


def roles(workspace):
    return {m.user.username: m.role for m in Membership.objects.filter(workspace=workspace).select_related("user")}


def test_an_admin_adds_somebody_who_has_a_login(ada_actor, acme, mallory):
    operations.add_member(ada_actor, acme, "Mallory", Role.VIEWER)
    assert roles(acme)["mallory"] == "viewer"
    entry = AuditEntry.objects.get(action="member.added")
    assert (entry.actor_name, entry.target, entry.workspace) == ("ada", "mallory", acme)


def test_nobody_by_that_name_is_said_so(ada_actor, acme):
    with pytest.raises(NotFound, match="nobody with the username ghost"):
        operations.add_member(ada_actor, acme, "ghost", Role.VIEWER)


def test_a_member_is_not_added_twice(ada_actor, acme, alice):
    with pytest.raises(AlreadyMember):
        operations.add_member(ada_actor, acme, "alice", Role.ADMIN)
    assert roles(acme)["alice"] == "operator"


def test_an_admin_makes_a_new_login_that_works(ada_actor, acme, client):
    operations.create_member(ada_actor, acme, "nora", PASSWORD, Role.OPERATOR)
    assert roles(acme)["nora"] == "operator"
    assert client.login(username="nora", password=PASSWORD)
    nora = User.objects.get(username="nora")
    assert not nora.is_staff
    assert not nora.is_superuser


@pytest.mark.parametrize(
    ("username", "password"),
    [("nora", "short"), ("", PASSWORD), ("no ra", PASSWORD), ("n" * 151, PASSWORD), ("n\x00", PASSWORD)],
)
def test_a_bad_login_leaves_nothing(ada_actor, acme, settings, username, password):
    settings.AUTH_PASSWORD_VALIDATORS = [{"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"}]
    with pytest.raises(Invalid):
        operations.create_member(ada_actor, acme, username, password, Role.VIEWER)
    assert roles(acme) == {"ada": "admin"}


@pytest.mark.parametrize("username", ["alice", "ALICE"])
def test_a_username_is_taken_in_any_case(ada_actor, acme, alice, username):
    with pytest.raises(UsernameTaken):
        operations.create_member(ada_actor, acme, username, PASSWORD, Role.VIEWER)


def test_a_role_is_changed_and_the_change_recorded(ada_actor, acme, alice):
    operations.set_role(ada_actor, acme, "alice", Role.APPROVER)
    assert roles(acme)["alice"] == "approver"
    assert AuditEntry.objects.get(action="member.role_changed").data == {"before": "operator", "after": "approver"}


def test_an_unknown_role_is_refused(ada_actor, acme, alice):
    with pytest.raises(Invalid):
        operations.set_role(ada_actor, acme, "alice", "king")


def test_the_last_admin_stays(ada_actor, acme, alice):
    with pytest.raises(LastAdmin):
        operations.set_role(ada_actor, acme, "ada", Role.VIEWER)
    with pytest.raises(LastAdmin):
        operations.remove_member(ada_actor, acme, "ada")
    assert roles(acme)["ada"] == "admin"


def test_an_admin_who_cannot_log_in_any_more_does_not_count(ada_actor, acme):
    gone = person("gone", acme, Role.ADMIN)
    gone.is_active = False
    gone.save()
    with pytest.raises(LastAdmin):
        operations.remove_member(ada_actor, acme, "ada")


def test_only_an_admin_changes_members(alice_actor, bob_actor, mallory_actor, acme, victor):
    for actor in (alice_actor, bob_actor):
        with pytest.raises(Forbidden):
            operations.set_role(actor, acme, "victor", Role.ADMIN)
        with pytest.raises(Forbidden):
            operations.create_member(actor, acme, "nora", PASSWORD, Role.ADMIN)
    with pytest.raises(NotFound):
        operations.remove_member(mallory_actor, acme, "victor")


def test_somebody_from_elsewhere_is_not_a_member_here(ada_actor, acme, mallory):
    with pytest.raises(NotFound):
        operations.set_role(ada_actor, acme, "mallory", Role.ADMIN)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("round_number", range(5))
def test_two_admins_who_remove_each_other_at_once_leave_one(acme, round_number):
    ann, bea = person("ann", acme, Role.ADMIN), person("bea", acme, Role.ADMIN)
    start = threading.Barrier(2)
    refused: list[Exception] = []

    def remove(actor: Actor, username: str) -> None:
        try:
            connection.ensure_connection()
            start.wait(5)
            operations.remove_member(actor, acme, username)
        except (LastAdmin, NotFound) as error:
            refused.append(error)
        finally:
            connection.close()

    threads = [
        threading.Thread(target=remove, args=(Actor.for_user(ann), "bea")),
        threading.Thread(target=remove, args=(Actor.for_user(bea), "ann")),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert len(refused) == 1
    assert list(roles(acme).values()) == ["admin"]
