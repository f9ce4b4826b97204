"""Where a provider may be: an admin entered it, so any host; but only what can't leak a secret or mean two things."""

import pytest

from sessions.contracts import ModelRequest, ProviderConfig, ProviderError
from sessions.llm.address import base_url_for, check_base_url
from sessions.llm.request import request
from tests.llm.asking import HELLO
from workspaces.errors import Invalid


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("", ""),
        ("  ", ""),
        ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"),
        ("http://localhost:11434/v1/", "http://localhost:11434/v1"),
        ("http://[::1]:8080", "http://[::1]:8080"),
        ("https://10.0.0.7/llm", "https://10.0.0.7/llm"),
        ("https://models.example.org", "https://models.example.org"),
        (" https://models.example.org/ ", "https://models.example.org"),
    ],
)
def test_private_and_loopback_addresses_are_fine(url: str, kept: str) -> None:
    assert check_base_url(url) == kept


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "//example.org/v1",
        "example.org/v1",
        "http://",
        "http:///v1",
        "http://:80/v1",
        "http://user:pass@example.org",
        "http://user@example.org",
        "http://@example.org",
        "http://example.org:99999",
        "http://example.org:0",
        "http://example.org:port",
        "http://exa mple.org",
        "http://example.org/v1?key=1",
        "http://example.org/v1#x",
        "http://example.org/v1?",
        "http://example.org\\@other.org",
        "http://example.org/\r\nx: y",
        "http://exämple.org",
        "http://[::1",
        "http://example.org/" + "a" * 500,
    ],
)
@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_anything_else_is_refused_when_saved_and_when_used(url: str, kind: str) -> None:
    with pytest.raises(Invalid):
        check_base_url(url)
    with pytest.raises(ProviderError) as caught:
        request(ModelRequest(ProviderConfig(kind, url, "key"), "m", "", HELLO))
    assert caught.value.failure == "provider_rejected"


def test_without_one_it_is_the_vendors_own() -> None:
    assert base_url_for("openai", "") == "https://api.openai.com/v1"
    assert base_url_for("anthropic", "") == "https://api.anthropic.com"
    assert base_url_for("scripted", "") == ""
