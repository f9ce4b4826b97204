"""The one HTTP API: who may call it, how its errors look, which rooms' routes it carries.

Lives here: composition only. Invariants: every route needs a bearer token; every error is problem+json with a `code`;
the documentation page fetches nothing from other hosts.
"""

from typing import Any

from csp.decorators import csp_update
from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.security import HttpBearer

from config.errors import plain_problem, respond
from sessions.api import router as sessions_router
from workspaces.actors import Actor
from workspaces.api import router as workspaces_router
from workspaces.errors import LaybyError
from workspaces.tokens import authenticate


class BearerToken(HttpBearer):
    """`Authorization: Bearer layby_…`; the actor is then `request.auth`."""

    def authenticate(self, request: HttpRequest, token: str) -> Actor | None:
        """The Actor that *token* stands for, or None."""
        return authenticate(token)


def _documentation_policy(view: Any) -> Any:
    # Swagger's own style sheet carries its icons as data: images. Everything comes from here.
    return csp_update({"img-src": ["data:"]})(view)


api = NinjaAPI(
    title="Layby",
    version="1",
    description="Everything the console does. Bearer tokens; errors are problem+json with a stable `code`.",
    auth=BearerToken(),
    urls_namespace="api",
    docs_decorator=_documentation_policy,
)


@api.exception_handler(LaybyError)
def _layby_error(request: HttpRequest, error: LaybyError) -> HttpResponse:
    return respond(request, error)


@api.exception_handler(ValidationError)
def _invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    errors = [{"field": ".".join(str(part) for part in e["loc"][1:]), "message": e["msg"]} for e in error.errors]
    first = errors[0] if errors else {"field": "", "message": "not valid"}
    return plain_problem(422, "invalid", f"{first['field'] or 'body'}: {first['message']}", errors=errors)


@api.exception_handler(AuthenticationError)
def _unknown_caller(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    response = plain_problem(401, "unauthenticated", "A valid API token is needed: Authorization: Bearer layby_…")
    response["WWW-Authenticate"] = 'Bearer realm="layby"'
    return response


@api.exception_handler(Http404)
def _not_found(request: HttpRequest, error: Http404) -> HttpResponse:
    return plain_problem(404, "not_found", "There is nothing here by that name or id.")


@api.exception_handler(HttpError)
def _http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    codes = {400: "bad_request", 403: "forbidden", 404: "not_found", 409: "conflict", 429: "too_many_requests"}
    return plain_problem(error.status_code, codes.get(error.status_code, "error"), str(error))


api.add_router("", workspaces_router)
api.add_router("", sessions_router)
