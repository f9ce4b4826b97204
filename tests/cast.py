"""The fixed cast of every test: who they are, the two workspaces, their tokens and browsers.

Alice operates, Bob approves, Victor views, Ada administers `acme`; Mallory administers `other` and has no business in
`acme`; Sue is a superuser and a member of nothing. Everybody's password is PASSWORD.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from workspaces import tokens
from workspaces.actors import SYSTEM, Actor
from workspaces.models import Membership, User, Workspace
from workspaces.roles import Role

PASSWORD = "lay-by-lay-by-42"


@pytest.fixture
def data_folder(settings, tmp_path: Path) -> Path:
    """A throw-away DATA: the files of the workspaces lie in `data_folder / "workspaces" / slug`."""
    settings.DATA = tmp_path / "data"
    settings.DATA.mkdir(exist_ok=True)
    return settings.DATA


@pytest.fixture
def acme(db, data_folder: Path) -> Workspace:
    return Workspace.objects.create(slug="acme", name="Acme", created_by=SYSTEM.as_json())


@pytest.fixture
def other(db, data_folder: Path) -> Workspace:
    return Workspace.objects.create(slug="other", name="Other", created_by=SYSTEM.as_json())


def person(username: str, workspace: Workspace | None = None, role: Role | None = None) -> User:
    user = User.objects.create_user(username, f"{username}@example.org", PASSWORD)
    if workspace is not None and role is not None:
        Membership.objects.create(workspace=workspace, user=user, role=role, created_by=SYSTEM.as_json())
    return user


@pytest.fixture
def alice(acme: Workspace) -> User:
    return person("alice", acme, Role.OPERATOR)


@pytest.fixture
def bob(acme: Workspace) -> User:
    return person("bob", acme, Role.APPROVER)


@pytest.fixture
def victor(acme: Workspace) -> User:
    return person("victor", acme, Role.VIEWER)


@pytest.fixture
def ada(acme: Workspace) -> User:
    return person("ada", acme, Role.ADMIN)


@pytest.fixture
def mallory(other: Workspace) -> User:
    return person("mallory", other, Role.ADMIN)


@pytest.fixture
def sue(db) -> User:
    return User.objects.create_superuser("sue", "sue@example.org", PASSWORD)


@pytest.fixture
def alice_actor(alice: User) -> Actor:
    return Actor.for_user(alice)


@pytest.fixture
def bob_actor(bob: User) -> Actor:
    return Actor.for_user(bob)


@pytest.fixture
def victor_actor(victor: User) -> Actor:
    return Actor.for_user(victor)


@pytest.fixture
def ada_actor(ada: User) -> Actor:
    return Actor.for_user(ada)


@pytest.fixture
def mallory_actor(mallory: User) -> Actor:
    return Actor.for_user(mallory)


@pytest.fixture
def sue_actor(sue: User) -> Actor:
    return Actor.for_user(sue)


@pytest.fixture
def browser_of() -> Callable[[User], Client]:
    """A browser in which somebody is logged in; CSRF is not checked (the tests about it make their own Client)."""

    def logged_in(user: User) -> Client:
        client = Client()
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        return client

    return logged_in


@pytest.fixture
def viewer_token(acme: Workspace) -> str:
    return tokens.issue(acme, Role.VIEWER, "viewer", SYSTEM)[1]


@pytest.fixture
def operator_token(acme: Workspace) -> str:
    return tokens.issue(acme, Role.OPERATOR, "operator", SYSTEM)[1]


@pytest.fixture
def approver_token(acme: Workspace) -> str:
    return tokens.issue(acme, Role.APPROVER, "approver", SYSTEM)[1]


@pytest.fixture
def admin_token(acme: Workspace) -> str:
    """An admin of `acme`, not a superuser's token."""
    return tokens.issue(acme, Role.ADMIN, "admin", SYSTEM)[1]


@pytest.fixture
def superuser_token(acme: Workspace) -> str:
    """As `issue_token --role admin` makes it: may also create workspaces."""
    return tokens.issue(acme, Role.ADMIN, "superuser", SYSTEM, creates_workspaces=True)[1]


@pytest.fixture
def foreign_token(other: Workspace) -> str:
    """An admin's token of `other`: a stranger in `acme`."""
    return tokens.issue(other, Role.ADMIN, "foreign", SYSTEM)[1]


class ApiClient(Client):
    """A Client that carries a bearer token and sends JSON."""

    def __init__(self, token: str = "") -> None:
        super().__init__(headers={"Authorization": f"Bearer {token}"} if token else None)


@pytest.fixture
def api_as() -> Callable[[str], ApiClient]:
    """`api_as(token).post("/api/…", {...}, content_type="application/json")`."""
    return ApiClient
