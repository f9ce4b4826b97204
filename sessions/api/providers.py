"""Model providers over the API."""

from typing import Any

from django.http import HttpRequest
from ninja import Query, Router, Status
from pydantic import Field

from sessions.api.callers import home, provider_of
from sessions.api.outputs import ProviderOut, ProviderPage
from sessions.api.paging import Paging
from sessions.api.problems import problems
from sessions.operations import providers
from sessions.queries.agents import provider_document, provider_page
from workspaces.bodies import Decision, Sent
from workspaces.errors import Invalid
from workspaces.roles import Need

router = Router(tags=["model providers"])


class NewProvider(Decision):
    slug: str
    kind: str = Field(description="openai (any OpenAI-compatible endpoint), anthropic or scripted")
    base_url: str | None = Field(None, description="Without it: the kind's own address.")
    api_key: str | None = Field(None, description="Written, never read back.")


class ChangedProvider(Decision):
    slug: str | None = Field(None, description="If given, the one in the address.")
    kind: str | None = Field(None, description="If given, the kind it has.")
    base_url: str | None = Field(None, description="null: as it is.")
    api_key: str | None = Field(None, description='null: as it is; "": none any more.')


@router.post(
    "/model-providers",
    summary="Add a model provider",
    response={201: ProviderOut},
    openapi_extra=problems(403, 413, 422, s409="`already_exists`: the slug is taken."),
)
def create_provider(request: HttpRequest, body: Sent[NewProvider]) -> Status[dict[str, Any]]:
    """Add a model provider. Needs an admin."""
    actor, workspace = home(request, Need.ADMINISTER, body.by)
    made = providers.create_provider(actor, workspace, body.slug, body.kind, body.base_url or "", body.api_key or "")
    return Status(201, provider_document(made))


@router.get("/model-providers", summary="List model providers", response=ProviderPage, openapi_extra=problems(422))
def list_providers(request: HttpRequest, paging: Query[Paging]) -> dict[str, Any]:
    """The workspace's model providers, by slug."""
    _, workspace = home(request)
    return provider_page(workspace, cursor=paging.cursor or None, limit=paging.limit).as_json()


@router.put(
    "/model-providers/{slug}",
    summary="Change a model provider",
    response=ProviderOut,
    openapi_extra=problems(403, 404, 413, 422),
)
def change_provider(request: HttpRequest, slug: str, body: Sent[ChangedProvider]) -> dict[str, Any]:
    """Change where a provider is, or its key. What is left out stays. Needs an admin."""
    actor, provider = provider_of(request, slug, Need.ADMINISTER, body.by)
    if body.slug not in (None, slug):
        raise Invalid("slug: a slug cannot be changed.")
    if body.kind not in (None, provider.kind):
        raise Invalid(f"kind: this provider is of kind {provider.kind}; the kind cannot be changed.")
    return provider_document(providers.update_provider(actor, provider, body.base_url, body.api_key))
