"""API tokens: making one, and finding the actor behind one.

Lives here: the token's form and its hash. May not: store or log a token; only its SHA-256 is kept (it is 256 random
bits, so a plain hash is enough). Invariant: a revoked token is nobody, at once.
"""

import hashlib
import secrets
from datetime import timedelta

from django.db import transaction
from django.db.models import Q

from workspaces import audit, clock
from workspaces.actors import Actor
from workspaces.errors import Invalid
from workspaces.models import ApiToken, Workspace
from workspaces.roles import Role
from workspaces.values import require_clean

PREFIX = "layby_"
USED_AT_STEP = timedelta(minutes=1)


def issue(
    workspace: Workspace, role: str, name: str, actor: Actor, creates_workspaces: bool = False
) -> tuple[ApiToken, str]:
    """A new token of *workspace* with *role*, and its text, which is never to be had again. Raises Invalid.

    Does not ask whether *actor* may: `operations.issue_token` does.
    """
    name = name.strip() or "token"
    require_clean(name, "name")
    if len(name) > 120:
        raise Invalid("A token's name has at most 120 characters.")
    if role not in list(Role):
        raise Invalid(f"A role is one of {', '.join(Role)}.")
    raw = PREFIX + secrets.token_urlsafe(32)
    with transaction.atomic():
        token = ApiToken.objects.create(
            workspace=workspace,
            name=name,
            role=role,
            creates_workspaces=creates_workspaces,
            sha256=digest(raw),
            prefix=raw[: len(PREFIX) + 4],
            created_by=actor.as_json(),
        )
        audit.record(
            actor, "token.issued", workspace, name, id=str(token.pk), role=role, creates_workspaces=creates_workspaces
        )
    return token, raw


def digest(raw: str) -> str:
    """What is stored of a token: the hex SHA-256 of its text."""
    return hashlib.sha256(raw.encode("utf-8", "surrogatepass")).hexdigest()


def authenticate(raw: str) -> Actor | None:
    """The actor whose token *raw* is, or None. Notes the use, to about a minute."""
    if not raw.startswith(PREFIX):
        return None
    token = ApiToken.objects.filter(sha256=digest(raw), revoked_at=None).first()
    if token is None:
        return None
    now = clock.now()
    if token.last_used_at is None or now - token.last_used_at > USED_AT_STEP:
        # One write a minute and token, not one a request; the WHERE keeps two at once from both writing.
        stale = Q(last_used_at=None) | Q(last_used_at__lt=now - USED_AT_STEP)
        ApiToken.objects.filter(stale, pk=token.pk).update(last_used_at=now)
    return Actor.for_token(token)
