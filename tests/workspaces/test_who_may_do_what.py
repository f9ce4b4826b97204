"""Access: the one function, asked of everybody."""

import pytest

from workspaces import access, operations, tokens
from workspaces.actors import SYSTEM, Actor
from workspaces.errors import Forbidden, NotFound
from workspaces.models import ApiToken
from workspaces.roles import Need, Role, allows


@pytest.mark.parametrize(
    ("role", "needs"),
    [
        (Role.VIEWER, {Need.READ}),
        (Role.OPERATOR, {Need.READ, Need.OPERATE}),
        (Role.APPROVER, {Need.READ, Need.OPERATE, Need.DECIDE}),
        (Role.ADMIN, {Need.READ, Need.OPERATE, Need.DECIDE, Need.ADMINISTER}),
    ],
)
def test_each_role_allows_what_the_table_says(role, needs):
    assert {need for need in Need if allows(role, need)} == needs


def test_a_member_gets_the_workspace_with_what_the_role_allows(alice_actor, acme):
    assert access.access_workspace(alice_actor, "acme", Need.OPERATE) == acme


def test_a_member_without_the_right_is_forbidden(victor_actor):
    with pytest.raises(Forbidden):
        access.access_workspace(victor_actor, "acme", Need.OPERATE)


def test_a_foreign_workspace_looks_exactly_like_a_missing_one(mallory_actor, acme):
    with pytest.raises(NotFound) as foreign:
        access.access_workspace(mallory_actor, "acme")
    with pytest.raises(NotFound) as missing:
        access.access_workspace(mallory_actor, "nowhere")
    assert (foreign.value.message, foreign.value.extra) == (missing.value.message, missing.value.extra)


def test_a_superuser_administers_every_workspace(sue_actor, acme):
    assert access.role_in(sue_actor, acme) is Role.ADMIN


def test_the_system_administers_every_workspace(acme):
    assert access.role_in(SYSTEM, acme) is Role.ADMIN


def test_a_right_ends_with_the_membership_for_an_actor_made_before(alice_actor, ada_actor, acme):
    assert access.role_in(alice_actor, acme) is Role.OPERATOR
    operations.remove_member(ada_actor, acme, "alice")
    assert access.role_in(alice_actor, acme) is None


def test_a_right_ends_when_the_login_is_made_inactive(alice, alice_actor, acme):
    alice.is_active = False
    alice.save()
    assert access.role_in(alice_actor, acme) is None


def test_a_superuser_of_yesterday_is_none_today(sue, sue_actor, acme):
    sue.is_superuser = False
    sue.save()
    assert access.role_in(sue_actor, acme) is None
    with pytest.raises(Forbidden):
        access.require_superuser(sue_actor)


def test_a_token_is_a_stranger_outside_its_workspace(operator_token, acme, other):
    actor = tokens.authenticate(operator_token)
    assert actor is not None
    assert access.role_in(actor, acme) is Role.OPERATOR
    assert access.role_in(actor, other) is None
    assert access.access_token_workspace(actor) == acme


def test_a_superusers_token_is_a_stranger_elsewhere_too(superuser_token, other):
    actor = tokens.authenticate(superuser_token)
    assert actor is not None
    assert access.role_in(actor, other) is None


def test_a_token_revoked_after_it_was_read_has_no_right_left(operator_token, acme):
    actor = tokens.authenticate(operator_token)
    assert actor is not None
    operations.revoke_token(SYSTEM, acme, actor.id)
    assert access.role_in(actor, acme) is None


def test_a_superusers_token_stops_being_one_with_its_maker(sue, sue_actor, acme):
    _, raw = operations.issue_token(sue_actor, acme, Role.ADMIN, "mine", creates_workspaces=True)
    actor = tokens.authenticate(raw)
    assert access.is_superuser(actor)
    sue.is_superuser = False
    sue.save()
    assert not access.is_superuser(actor)


def test_an_admin_cannot_make_a_superusers_token(ada_actor, acme):
    with pytest.raises(Forbidden):
        operations.issue_token(ada_actor, acme, Role.ADMIN, "mine", creates_workspaces=True)
    assert not ApiToken.objects.exists()


def test_an_actor_that_claims_to_be_a_superuser_is_not_believed(alice, acme):
    assert access.role_in(Actor("user", str(alice.pk), "alice", superuser=True), acme) is Role.OPERATOR
