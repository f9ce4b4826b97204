"""Who may open a socket: only a page of ours."""

import pytest
from django.test import override_settings

from config.asgi import same_origin


@pytest.mark.parametrize(
    ("origin", "host", "allowed"),
    [
        ("https://layby.example.org", "layby.example.org", True),
        ("https://LAYBY.example.org", "layby.example.org", True),
        ("http://localhost:8000", "localhost:8000", True),
        ("http://[::1]:8000", "[::1]:8000", True),
        ("", "layby.example.org", False),
        ("null", "layby.example.org", False),
        ("http://layby.example.org", "layby.example.org", False),
        ("https://layby.example.org:8443", "layby.example.org", False),
        ("https://evil.layby.example.org", "layby.example.org", False),
        ("https://layby.example.org.evil.example", "layby.example.org", False),
        ("https://evil.example", "layby.example.org", False),
        ("https://evil.example", "evil.example", False),
        ("http://localhost:9000", "localhost:8000", False),
        ("https://localhost:8000", "localhost:8000", False),
    ],
)
def test_a_sockets_origin_has_to_be_ours(origin: str, host: str, allowed: bool) -> None:
    with override_settings(PUBLIC_URL="https://layby.example.org"):
        assert same_origin(origin, host) is allowed
