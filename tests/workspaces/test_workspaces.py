"""Workspaces: made by a superuser, with what belongs into them; and the first run."""

import pytest

from workspaces import operations
from workspaces.actors import SYSTEM
from workspaces.errors import Forbidden, Invalid
from workspaces.models import AuditEntry, Membership, User, Workspace
from workspaces.operations import SlugTaken, create_workspace, first_run


def test_whoever_makes_a_workspace_is_its_first_admin(sue_actor):
    workspace = create_workspace(sue_actor, "new-one", "New one")
    assert [(m.user.username, m.role) for m in workspace.memberships.select_related("user")] == [("sue", "admin")]
    assert AuditEntry.objects.get(action="workspace.created").actor_name == "sue"


def test_only_a_superuser_makes_one(ada_actor):
    with pytest.raises(Forbidden):
        create_workspace(ada_actor, "new-one", "New one")


def test_a_slug_that_is_taken_is_said_so_and_changes_nothing(sue_actor, acme):
    with pytest.raises(SlugTaken, match="the slug acme exists"):
        create_workspace(sue_actor, "acme", "Another")
    assert Workspace.objects.get().name == "Acme"
    assert not Membership.objects.exists()


@pytest.mark.parametrize(
    "slug", ["", "a", "A1", "1a", "-a", "a b", "a/b", "..", "a" * 65, "ab\n", "äb", "a_b", "a\x00b"]
)
def test_a_bad_slug_is_refused(sue_actor, slug):
    with pytest.raises(Invalid):
        create_workspace(sue_actor, slug, "x")


@pytest.mark.parametrize("name", ["", "   ", "n" * 121, "a\x00b", "\ud800"])
def test_a_bad_name_is_refused(sue_actor, name):
    with pytest.raises(Invalid):
        create_workspace(sue_actor, "fine", name)


seen: list[str] = []


def seed(actor, workspace):
    seen.append(workspace.slug)


def seed_that_fails(actor, workspace):
    raise RuntimeError("no")


def test_what_the_rooms_above_put_into_a_workspace_is_made_with_it(sue_actor, settings):
    settings.WORKSPACE_SEEDS = [f"{__name__}.seed"]
    create_workspace(sue_actor, "seeded", "Seeded")
    assert seen == ["seeded"]


def test_a_workspace_is_never_half_made(sue_actor, settings):
    settings.WORKSPACE_SEEDS = [f"{__name__}.seed_that_fails"]
    with pytest.raises(RuntimeError):
        create_workspace(sue_actor, "seeded", "Seeded")
    assert not Workspace.objects.exists()


def test_the_first_run_makes_an_admin_and_prints_the_password_once(
    db, settings, client, django_capture_on_commit_callbacks
):
    settings.ADMIN_PASSWORD = ""
    lines: list[str] = []
    with django_capture_on_commit_callbacks(execute=True):
        first_run(lines.append)
    (line,) = lines
    assert client.login(username="admin", password=line.rsplit(" ", 1)[1])
    assert User.objects.get().is_superuser
    assert Workspace.objects.get().slug == "demo"
    with django_capture_on_commit_callbacks(execute=True):
        first_run(lines.append)
    assert len(lines) == 1
    assert User.objects.count() == Workspace.objects.count() == 1


def test_the_first_run_takes_a_given_password_and_does_not_print_it(
    db, settings, client, django_capture_on_commit_callbacks
):
    settings.ADMIN_PASSWORD = "given-by-hand"
    lines: list[str] = []
    with django_capture_on_commit_callbacks(execute=True):
        first_run(lines.append, no_demo=True)
    assert client.login(username="admin", password="given-by-hand")
    assert "given-by-hand" not in "".join(lines)
    assert not Workspace.objects.exists()


def test_the_first_run_leaves_people_who_are_there_alone(alice, settings):
    settings.ADMIN_PASSWORD = ""
    first_run(print)
    assert not User.objects.filter(username="admin").exists()


def test_a_superuser_is_only_made_by_a_superuser(ada_actor):
    with pytest.raises(Forbidden):
        operations.create_user(ada_actor, "eve", "some-good-pass-9", superuser=True)
    assert operations.create_user(SYSTEM, "eve", "some-good-pass-9", superuser=True).is_superuser
