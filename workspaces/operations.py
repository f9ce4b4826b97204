"""What people do to people and workspaces: each is one transaction, takes the actor first and leaves an audit entry.

May not: know a request or render. Invariants: whoever calls, the right is checked here once more; a workspace that
has an admin keeps one; what a new workspace needs from the rooms above (its scripted provider) is made in the same
transaction by the functions named in `settings.WORKSPACE_SEEDS`, each called as `seed(actor, workspace)`.
"""

import secrets
from collections.abc import Callable
from functools import partial

from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction
from django.utils.module_loading import import_string

from workspaces import access, audit, clock, tokens
from workspaces.actors import SYSTEM, Actor
from workspaces.errors import AlreadyExists, Conflict, Invalid, NotFound
from workspaces.ids import parse_id
from workspaces.models import ApiToken, Membership, User, Workspace, validate_slug
from workspaces.roles import Need, Role
from workspaces.values import require_clean

ADMIN_USERNAME = "admin"
DEMO_SLUG = "demo"
_FIRST_RUN_LOCK = 4_100_410_001  # any number that nobody else takes as an advisory lock


class LastAdmin(Conflict):
    """This is the workspace's last admin. Make somebody else admin first."""

    code = "last_admin"


class SlugTaken(AlreadyExists):
    """A workspace with this slug exists already. Choose another slug."""


class UsernameTaken(AlreadyExists):
    """This username is taken."""


class AlreadyMember(AlreadyExists):
    """This person is a member already. Change the role instead."""


def create_workspace(actor: Actor, slug: str, name: str) -> Workspace:
    """A new workspace with what belongs into one; the person who makes it is its first admin.

    Raises Forbidden (superusers only), Invalid, SlugTaken.
    """
    access.require_superuser(actor)
    name = _clean_name(name, "A workspace's name", 120)
    _valid_slug(slug)
    try:
        with transaction.atomic():
            workspace = Workspace.objects.create(slug=slug, name=name, created_by=actor.as_json())
            if actor.kind == "user":
                Membership.objects.create(
                    workspace=workspace, user_id=actor.row_id, role=Role.ADMIN, created_by=actor.as_json()
                )
            audit.record(actor, "workspace.created", workspace, slug, name=name)
            for path in getattr(settings, "WORKSPACE_SEEDS", []):
                import_string(path)(actor, workspace)
    except IntegrityError as error:
        if "workspaces_workspace_slug" in str(error):
            raise SlugTaken(f"A workspace with the slug {slug} exists already. Choose another slug.") from None
        raise
    return workspace


def create_user(actor: Actor, username: str, password: str, superuser: bool = False, email: str = "") -> User:
    """A new person with a login. Raises Invalid (name or password), UsernameTaken, Forbidden (to make a superuser)."""
    if superuser:
        access.require_superuser(actor)
    user = User(username=User.normalize_username(username.strip()), email=email.strip(), is_superuser=superuser)
    user.is_staff = superuser
    try:
        require_clean(user.username, "username")
        user.clean_fields(exclude=["password"])
        validate_password(password, user)
    except ValidationError as error:
        raise Invalid(" ".join(error.messages)) from None
    return _save_user(actor, user, password)


def _save_user(actor: Actor, user: User, password: str) -> User:
    user.set_password(password)
    try:
        with transaction.atomic():
            user.save(force_insert=True)
            audit.record(actor, "user.created", None, user.username, id=str(user.pk), superuser=user.is_superuser)
    except IntegrityError as error:
        if "username" in str(error):
            raise UsernameTaken from None
        raise
    return user


def add_member(actor: Actor, workspace: Workspace, username: str, role: str) -> Membership:
    """Make an existing person a member. Raises NotFound (no such person), AlreadyMember, Invalid (role)."""
    access.require(actor, workspace, Need.ADMINISTER)
    _valid_role(role)
    user = User.objects.filter(username__iexact=username.strip(), is_active=True).first()
    if user is None:
        raise NotFound(f"There is nobody with the username {username.strip()[:150]}.")
    return _join(actor, workspace, user, role)


def create_member(actor: Actor, workspace: Workspace, username: str, password: str, role: str) -> Membership:
    """Make a new person with a first password, and a member at once. Raises as `create_user` and `add_member`."""
    access.require(actor, workspace, Need.ADMINISTER)
    _valid_role(role)
    with transaction.atomic():
        return _join(actor, workspace, create_user(actor, username, password), role)


def _join(actor: Actor, workspace: Workspace, user: User, role: str) -> Membership:
    try:
        with transaction.atomic():
            membership = Membership.objects.create(
                workspace=workspace, user=user, role=role, created_by=actor.as_json()
            )
            audit.record(actor, "member.added", workspace, user.username, user=str(user.pk), role=role)
    except IntegrityError as error:
        if "membership_once" in str(error):
            raise AlreadyMember from None
        raise
    return membership


def set_role(actor: Actor, workspace: Workspace, username: str, role: str) -> Membership:
    """Change a member's role. Raises NotFound, LastAdmin, Invalid."""
    access.require(actor, workspace, Need.ADMINISTER)
    _valid_role(role)
    with transaction.atomic():
        membership = _locked_member(workspace, username)
        before = membership.role
        if before != role:
            if before == Role.ADMIN:
                _keep_an_admin(workspace, membership)
            membership.role = role
            membership.save(update_fields=["role"])
            audit.record(actor, "member.role_changed", workspace, membership.user.username, before=before, after=role)
    return membership


def remove_member(actor: Actor, workspace: Workspace, username: str) -> None:
    """End a membership; the login stays. Raises NotFound, LastAdmin."""
    access.require(actor, workspace, Need.ADMINISTER)
    with transaction.atomic():
        membership = _locked_member(workspace, username)
        if membership.role == Role.ADMIN:
            _keep_an_admin(workspace, membership)
        audit.record(actor, "member.removed", workspace, membership.user.username, role=membership.role)
        membership.delete()


def _locked_member(workspace: Workspace, username: str) -> Membership:
    # The workspace's row is the lock: two admins who remove each other at once are put in line here.
    Workspace.objects.select_for_update(no_key=True).get(pk=workspace.pk)
    found = Membership.objects.select_related("user").filter(
        workspace=workspace, user__username__iexact=username.strip()
    )
    membership = found.first()
    if membership is None:
        raise NotFound(f"{username.strip()[:150]} is not a member of this workspace.")
    return membership


def _keep_an_admin(workspace: Workspace, leaving: Membership) -> None:
    others = Membership.objects.filter(workspace=workspace, role=Role.ADMIN, user__is_active=True)
    if not others.exclude(pk=leaving.pk).exists():
        raise LastAdmin


def issue_token(
    actor: Actor, workspace: Workspace, role: str, name: str, creates_workspaces: bool = False
) -> tuple[ApiToken, str]:
    """A new API token and its text, shown once. Raises Forbidden, Invalid.

    `creates_workspaces` makes it a superuser's token (it may POST /api/workspaces); only a superuser may give that.
    """
    access.require(actor, workspace, Need.ADMINISTER)
    if creates_workspaces:
        access.require_superuser(actor)
        if role != Role.ADMIN:
            raise Invalid("A token that makes workspaces has the role admin.")
    return tokens.issue(workspace, role, name, actor, creates_workspaces)


def revoke_token(actor: Actor, workspace: Workspace, token_id: str) -> ApiToken:
    """End a token at once; again does nothing. Raises NotFound."""
    access.require(actor, workspace, Need.ADMINISTER)
    with transaction.atomic():
        token = _locked_token(workspace, token_id)
        if token is None:
            raise NotFound("There is no such token.")
        if token.revoked_at is None:
            token.revoked_at = clock.now()
            token.save(update_fields=["revoked_at"])
            audit.record(actor, "token.revoked", workspace, token.name, id=str(token.pk))
    return token


def _locked_token(workspace: Workspace, token_id: str) -> ApiToken | None:
    key = parse_id(token_id)
    if key is None:
        return None
    return ApiToken.objects.select_for_update(no_key=True).filter(pk=key, workspace=workspace).first()


def first_run(write: Callable[[str], object], no_demo: bool = False) -> None:
    """Where there is no user yet: make the superuser `admin` and, unless *no_demo*, the workspace `demo`. SPEC 14.

    The password is LAYBY_ADMIN_PASSWORD, taken as it is; else a random one is given to *write*, once. Two starts at
    once make one admin.
    """
    given: str = settings.ADMIN_PASSWORD
    password = given or secrets.token_urlsafe(15)
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_FIRST_RUN_LOCK])
        if User.objects.exists():
            return
        admin = User.objects.create_superuser(ADMIN_USERNAME, password=password)
        audit.record(SYSTEM, "user.created", None, ADMIN_USERNAME, id=str(admin.pk), superuser=True)
        if not no_demo:
            workspace = create_workspace(SYSTEM, DEMO_SLUG, "Demo")
            _join(SYSTEM, workspace, admin, Role.ADMIN)
        shown = "the password of LAYBY_ADMIN_PASSWORD" if given else f"password (shown once): {password}"
        # After the commit: a password that was printed is one that works.
        transaction.on_commit(partial(write, f"login: {ADMIN_USERNAME}, {shown}"))


def _valid_role(role: str) -> None:
    if role not in list(Role):
        raise Invalid(f"A role is one of {', '.join(Role)}.")


def _valid_slug(slug: str) -> None:
    try:
        validate_slug(slug)
    except ValidationError as error:
        raise Invalid(" ".join(error.messages)) from None


def _clean_name(name: str, what: str, most: int) -> str:
    name = name.strip()
    require_clean(name, "name")
    if not 1 <= len(name) <= most:
        raise Invalid(f"{what} has 1 to {most} characters.")
    return name
