"""API tokens: shown once, kept as a hash, revoked at once."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from workspaces import operations, tokens
from workspaces.actors import SYSTEM
from workspaces.errors import Forbidden, Invalid, NotFound
from workspaces.models import ApiToken, AuditEntry
from workspaces.roles import Role


def test_a_tokens_text_is_nowhere_in_the_database(acme):
    token, raw = tokens.issue(acme, Role.OPERATOR, "script", SYSTEM)
    stored = str(ApiToken.objects.values().get(pk=token.pk)) + str(list(AuditEntry.objects.values()))
    assert raw.startswith("layby_")
    assert raw not in stored
    assert raw[len(token.prefix) :] not in stored


def test_a_token_says_who_it_is(acme, operator_token):
    actor = tokens.authenticate(operator_token)
    assert actor is not None
    assert (actor.kind, actor.name, actor.token_role, actor.token_workspace) == (
        "token",
        "operator",
        "operator",
        acme.pk,
    )


@pytest.mark.parametrize("raw", ["", "layby_", "layby_nonsense", "Bearer", "layby_\ud800", "x" * 10_000])
def test_nonsense_is_nobody(db, raw):
    assert tokens.authenticate(raw) is None


def test_a_revoked_token_is_nobody(acme, operator_token):
    operations.revoke_token(SYSTEM, acme, str(ApiToken.objects.get().pk))
    assert tokens.authenticate(operator_token) is None


def test_the_last_use_is_kept_to_the_minute(operator_token):
    tokens.authenticate(operator_token)
    first = ApiToken.objects.get().last_used_at
    tokens.authenticate(operator_token)
    assert ApiToken.objects.get().last_used_at == first
    ApiToken.objects.update(last_used_at=first - timedelta(minutes=2))
    tokens.authenticate(operator_token)
    assert ApiToken.objects.get().last_used_at >= first


def test_only_an_admin_issues_and_revokes(alice_actor, ada_actor, acme):
    with pytest.raises(Forbidden):
        operations.issue_token(alice_actor, acme, Role.VIEWER, "mine")
    token, _ = operations.issue_token(ada_actor, acme, Role.VIEWER, "mine")
    with pytest.raises(Forbidden):
        operations.revoke_token(alice_actor, acme, str(token.pk))


def test_a_token_of_another_workspace_cannot_be_revoked_from_here(ada_actor, acme, other):
    token, _ = tokens.issue(other, Role.VIEWER, "theirs", SYSTEM)
    with pytest.raises(NotFound):
        operations.revoke_token(ada_actor, acme, str(token.pk))
    with pytest.raises(NotFound):
        operations.revoke_token(ada_actor, acme, "not-an-id")
    assert ApiToken.objects.get().revoked_at is None


@pytest.mark.parametrize(("role", "name"), [("king", "x"), ("viewer", "x" * 121), ("viewer", "a\x00b")])
def test_a_bad_role_or_name_makes_no_token(acme, role, name):
    with pytest.raises(Invalid):
        tokens.issue(acme, role, name, SYSTEM)
    assert not ApiToken.objects.exists()


def test_the_command_prints_the_token_and_nothing_else(acme):
    out = StringIO()
    call_command("issue_token", workspace="acme", role="operator", stdout=out)
    raw = out.getvalue().removesuffix("\n")
    assert "\n" not in raw
    assert tokens.authenticate(raw) is not None
    assert not ApiToken.objects.get().creates_workspaces


def test_the_commands_admin_token_is_a_superusers(acme):
    call_command("issue_token", workspace="acme", role="admin", name="root", stdout=StringIO())
    assert ApiToken.objects.get(name="root").creates_workspaces


def test_the_command_says_that_a_workspace_is_missing(db):
    with pytest.raises(CommandError, match="There is no workspace nowhere"):
        call_command("issue_token", workspace="nowhere", role="admin", stdout=StringIO())
