"""The rows of people and tenancy.

Lives here: tables and their constraints. May not: rules about who may change them (operations and access).
Invariants held by the database: a slug has its form; a role is one of four; one membership per person and workspace;
a token is stored as its hash only; audit entries are never changed or deleted.
"""

import pgtrigger
from django.contrib.auth.models import AbstractUser
from django.core.validators import RegexValidator
from django.db import models
from django.db.models.functions import Lower

from workspaces import clock
from workspaces.ids import new_id
from workspaces.roles import ROLE_CHOICES, Role

SLUG_PATTERN = r"^[a-z][a-z0-9-]{1,63}\Z"
SLUG_WORDS = "2 to 64 of a-z, 0-9 and -, beginning with a letter"
validate_slug = RegexValidator(SLUG_PATTERN, f"A slug is {SLUG_WORDS}.")


def _role_check(name: str) -> models.CheckConstraint:
    return models.CheckConstraint(condition=models.Q(role__in=[role.value for role in Role]), name=name)


class User(AbstractUser):
    """A person with a login. Never deleted, only made inactive, so that records keep their names."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)

    class Meta:
        constraints = [
            # Otherwise "Alice" could pass for "alice" on a card.
            models.UniqueConstraint(
                Lower("username"), name="user_username_any_case", violation_error_message="This username is taken."
            ),
        ]


class Workspace(models.Model):
    """The tenancy boundary: a folder of files, members with roles, and everything that runs there."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    slug = models.CharField(max_length=64, unique=True, validators=[validate_slug])
    name = models.CharField(max_length=120)
    created_at = models.DateTimeField(default=clock.now, editable=False)
    created_by = models.JSONField(default=dict, editable=False)  # Actor.as_json()

    class Meta:
        ordering = ["slug"]
        constraints = [
            # The slug is a folder's name: the database holds its form whoever writes it.
            models.CheckConstraint(
                condition=models.Q(slug__regex=r"^[a-z][a-z0-9-]{1,63}$"), name="workspace_slug_form"
            ),
        ]

    def __str__(self) -> str:
        return self.slug


class Membership(models.Model):
    """One person's role in one workspace."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=16, choices=ROLE_CHOICES)
    created_at = models.DateTimeField(default=clock.now, editable=False)
    created_by = models.JSONField(default=dict, editable=False)  # Actor.as_json()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "user"], name="membership_once"),
            _role_check("membership_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} is {self.role} in {self.workspace_id}"


class ApiToken(models.Model):
    """A caller's key to one workspace with one role. Only its hash is kept; `prefix` is what a list may show."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=120)
    role = models.CharField(max_length=16, choices=ROLE_CHOICES)
    creates_workspaces = models.BooleanField(default=False)  # a superuser's token; holds while its maker is one
    sha256 = models.CharField(max_length=64, unique=True, editable=False)
    prefix = models.CharField(max_length=16, editable=False)
    created_at = models.DateTimeField(default=clock.now, editable=False)
    created_by = models.JSONField(default=dict, editable=False)  # Actor.as_json()
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)  # to about a minute
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        verbose_name = "API token"
        constraints = [_role_check("token_role_known")]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


class AuditEntry(models.Model):
    """Who did what to what. Written in the transaction of the deed; never changed, never deleted."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    at = models.DateTimeField(default=clock.now, editable=False)
    workspace = models.ForeignKey(Workspace, models.PROTECT, null=True, related_name="audit_entries")
    actor_kind = models.CharField(max_length=8)
    actor_id = models.CharField(max_length=64, null=True)  # noqa: DJ001  null is "the system", as in Actor
    actor_name = models.CharField(max_length=150)
    actor_by = models.CharField(max_length=256, blank=True, default="")
    action = models.CharField(max_length=64)  # like "member.added"
    target = models.CharField(max_length=256, blank=True, default="")
    data = models.JSONField(default=dict)

    class Meta:
        verbose_name_plural = "audit entries"
        indexes = [models.Index(fields=["workspace", "-id"], name="audit_by_workspace")]
        triggers = [
            # TRUNCATE stays possible: only the owner of the table has it, and the tests' flush needs it.
            pgtrigger.Protect(name="append_only", operation=pgtrigger.Update | pgtrigger.Delete),
        ]

    def __str__(self) -> str:
        return f"{self.actor_name}: {self.action} {self.target}"


class Notification(models.Model):
    """One line in a workspace's list of notices; what `system__inform_user` writes."""

    class Level(models.TextChoices):
        INFO = "info"
        WARNING = "warning"
        ERROR = "error"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="notifications")
    session_id = models.UUIDField(null=True, blank=True)  # sessions live above this room, so no foreign key
    message = models.TextField()
    level = models.CharField(max_length=8, choices=Level.choices, default=Level.INFO)
    created_at = models.DateTimeField(default=clock.now, editable=False)

    class Meta:
        indexes = [models.Index(fields=["workspace", "-id"], name="notices_by_workspace")]

    def __str__(self) -> str:
        return self.message[:80]
