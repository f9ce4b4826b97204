"""Model providers. The key is written, never read back: no answer, page, log or error holds it."""

from django.conf import settings
from django.db import IntegrityError, transaction

from sessions.llm.address import check_base_url
from sessions.models import Provider
from sessions.operations.agents import check_slug
from workspaces import access, audit, secrets
from workspaces.actors import Actor
from workspaces.errors import AlreadyExists, Invalid
from workspaces.models import Workspace
from workspaces.roles import Need
from workspaces.values import require_clean

SCRIPTED = "scripted"
MAX_KEY = 4096


class ProviderSlugTaken(AlreadyExists):
    """A model provider with this slug exists already."""


def create_provider(
    actor: Actor, workspace: Workspace, slug: str, kind: str, base_url: str = "", api_key: str = ""
) -> Provider:
    """A new provider. Raises Forbidden, Invalid, ProviderSlugTaken."""
    access.require(actor, workspace, Need.ADMINISTER)
    check_slug(slug)
    if kind not in settings.MODEL_PROVIDERS:
        raise Invalid(f"kind: one of {', '.join(settings.MODEL_PROVIDERS)} is expected.")
    base_url = check_base_url(base_url) if base_url else ""
    try:
        with transaction.atomic():
            provider = Provider.objects.create(
                workspace=workspace, slug=slug, kind=kind, base_url=base_url, api_key=_sealed(api_key)
            )
            audit.record(actor, "provider.created", workspace, slug, kind=kind, base_url=base_url)
    except IntegrityError:
        raise ProviderSlugTaken() from None
    return provider


def update_provider(
    actor: Actor, provider: Provider, base_url: str | None = None, api_key: str | None = None
) -> Provider:
    """Change where it is or its key (None: as it is). Raises Forbidden, Invalid."""
    access.require(actor, provider.workspace, Need.ADMINISTER)
    with transaction.atomic():
        if base_url is not None:
            provider.base_url = check_base_url(base_url) if base_url else ""
        if api_key is not None:
            provider.api_key = _sealed(api_key)
        provider.save(update_fields=["base_url", "api_key"])
        audit.record(
            actor,
            "provider.changed",
            provider.workspace,
            provider.slug,
            base_url=provider.base_url,
            key=api_key is not None,
        )
    return provider


def _sealed(api_key: str) -> str:
    if len(api_key) > MAX_KEY:
        raise Invalid(f"api_key: at most {MAX_KEY} characters.")
    require_clean(api_key, "api_key")
    return secrets.encrypt(api_key.strip()) if api_key.strip() else ""


def seed(actor: Actor, workspace: Workspace) -> None:
    """What each new workspace has: the provider `scripted`. Called in the transaction that makes the workspace."""
    Provider.objects.get_or_create(workspace=workspace, slug=SCRIPTED, defaults={"kind": SCRIPTED})
