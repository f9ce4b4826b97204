"""The list of public routes: everything else asks who is there before it says anything."""

import re
import uuid
from collections.abc import Iterator

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

# Each with the reason why a stranger may see it.
PUBLIC = {
    "/healthz": "says that the process lives",
    "/readyz": "says whether the services answer",
    "/metrics": "has a rule of its own: a token, or loopback",
    "/api/docs": "the documentation of the API",
    "/api/openapi.json": "the same for machines",
    "/accounts/login/": "signing in",
    "/accounts/logout/": "signing out",
    "/accounts/signup/": "says that sign-up is closed",
    "/accounts/inactive/": "says that an account is inactive",
    "/accounts/confirm-email/": "a link in a mail",
    "/accounts/confirm-email/KEY/": "a link in a mail",
    "/accounts/password/reset/": "a forgotten password",
    "/accounts/password/reset/done/": "a forgotten password",
    "/accounts/password/reset/key/demo-KEY/": "a forgotten password",
    "/accounts/password/reset/key/done/": "a forgotten password",
    "/accounts/login/code/confirm/": "the second step of signing in",
    "/accounts/2fa/authenticate/": "the second step of signing in",
    "/accounts/2fa/webauthn/login/": "signing in with a passkey",
    "/accounts/3rdparty/login/cancelled/": "signing in by another service",
    "/accounts/3rdparty/login/error/": "signing in by another service",
    "/accounts/3rdparty/signup/": "signing in by another service",
    "/accounts/social/login/cancelled/": "the older address of the same",
    "/accounts/social/login/error/": "the older address of the same",
    "/accounts/social/signup/": "the older address of the same",
    "/accounts/social/connections/": "leads to the newer address, which asks for a login",
    "/api/": "says that there is nothing here",
    "/admin/logout/": "signing out",
    "/admin/login/": "leads to signing in",
    "/admin/jsi18n/": "Django's own words",
}


def routes(patterns: list[URLPattern | URLResolver], prefix: str = "/") -> Iterator[str]:
    for entry in patterns:
        part = str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from routes(entry.url_patterns, prefix + part)
        else:
            yield prefix + part


def filled(route: str) -> str:
    """*route* with something plausible for each of its parameters."""
    route = re.sub(r"\(\?P<\w*key\w*>[^()]*\)", "KEY", route)
    route = re.sub(r"\(\?P<\w+>[^()]*\)", "demo", route)
    route = re.sub(r"<uuid:\w+>", str(uuid.uuid4()), route)
    route = re.sub(r"<int:\w+>", "1", route)
    route = re.sub(r"<(?:\w+:)?(\w*key\w*)>", "KEY", route)
    route = re.sub(r"<(?:\w+:)?\w+>", "demo", route)
    return route.replace("^", "").replace("\\Z", "").replace("$", "").replace("\\.", ".").replace("\\/", "/")


ROUTES = sorted({filled(route) for route in routes(get_resolver().url_patterns)})


@pytest.mark.django_db
@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("route", [route for route in ROUTES if route not in PUBLIC])
def test_a_stranger_gets_nothing_from(route: str, method: str, client: Client) -> None:
    answer = getattr(client, method)(route)
    if answer.status_code == 302:
        assert answer["Location"].startswith(("/accounts/login/", "/admin/login/"))
    else:
        assert answer.status_code in (401, 403, 405), answer.status_code


def test_there_are_routes_to_check() -> None:
    assert len(ROUTES) > 20


def test_every_public_route_exists() -> None:
    assert set(PUBLIC) <= set(ROUTES)


@pytest.mark.django_db
@pytest.mark.parametrize("route", ["/accounts/login/", "/healthz", "/api/docs", "/nowhere", "/api/nowhere"])
def test_every_answer_has_the_protecting_headers(route: str, client: Client) -> None:
    headers = client.get(route).headers
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
