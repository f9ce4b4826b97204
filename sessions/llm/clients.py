"""The HTTP clients of the model libraries: one for each provider, kept for its connections, bounded in number.

Made by the thread that asks (it costs imports and a TLS context, which would stop the loop), used and closed on the
model loop. May not: take a key, a proxy, an address or an organisation from the environment; none of the server's own
may reach a provider that an admin entered. Invariants: no client retries by itself (a library's own retries would
multiply `provider_retries`) or follows a redirect; a client is closed only while no request uses it, and never used on
another loop or in another process than its first; keys are in the clients only, in the index as a hash.
"""

import contextlib
import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from sessions.contracts import ProviderConfig
from sessions.llm import loop
from sessions.llm.address import base_url_for

if TYPE_CHECKING:
    import httpx2
    from anthropic import AsyncAnthropic
    from openai import AsyncOpenAI

# Clients kept per process; more only while all of them are in use.
MOST = 32
CONNECT_SECONDS = 10.0
# The libraries want some key; servers without keys ignore this one.
NO_KEY = "api-key-not-set"

_lock = threading.Lock()
_made: OrderedDict[str, Any] = OrderedDict()  # the least recently used first
_busy: dict[str, int] = {}


@contextlib.contextmanager
def in_use(provider: ProviderConfig) -> Iterator[None]:
    """Keep the client of *provider*, if one is made meanwhile, from being closed; then close those beyond `MOST`."""
    key = _index(provider)
    with _lock:
        _busy[key] = _busy.get(key, 0) + 1
    try:
        yield
    finally:
        with _lock:
            _busy[key] -= 1
            if not _busy[key]:
                del _busy[key]
            too_many = max(0, len(_made) - MOST) if loop.running() else 0
            spare = [_made.pop(key) for key in [key for key in _made if key not in _busy][:too_many]]
        for client in spare:
            loop.soon(client.close)


def openai_client(provider: ProviderConfig) -> "AsyncOpenAI":
    """The client of an OpenAI-compatible *provider*. Raises Invalid on its base URL."""

    def make() -> "AsyncOpenAI":
        from openai import AsyncOpenAI

        client = AsyncOpenAI(
            api_key=provider.api_key or NO_KEY,
            base_url=base_url_for("openai", provider.base_url),
            max_retries=0,
            timeout=timeout(120.0),
            http_client=http_client(),
        )
        client.organization = client.project = None  # else from the environment
        return client

    made: AsyncOpenAI = _get(provider, make)
    return made


def anthropic_client(provider: ProviderConfig) -> "AsyncAnthropic":
    """The client of an Anthropic *provider*. Raises Invalid on its base URL."""

    def make() -> "AsyncAnthropic":
        from anthropic import AsyncAnthropic

        return AsyncAnthropic(
            api_key=provider.api_key or NO_KEY,
            base_url=base_url_for("anthropic", provider.base_url),
            max_retries=0,
            timeout=timeout(120.0),
            http_client=http_client(),
        )

    made: AsyncAnthropic = _get(provider, make)
    return made


def timeout(seconds: float) -> "httpx2.Timeout":
    """How long each step of one request may take: connecting at most 10 s, silence at most *seconds*."""
    import httpx2

    return httpx2.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds), pool=min(CONNECT_SECONDS, seconds))


def http_client() -> "httpx2.AsyncClient":
    """What every provider is called through: no proxy from the environment, no redirect, no limit of its own.

    The worker's slots bound the connections; a pool's limit below them would only make requests wait.
    """
    import httpx2

    return httpx2.AsyncClient(
        trust_env=False,
        follow_redirects=False,
        timeout=timeout(120.0),
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=MOST),
    )


async def close_all() -> None:
    """Close every client: the loop they belong to is ending."""
    with _lock:
        clients = list(_made.values())
        _made.clear()
    for client in clients:
        await client.close()


def _get(provider: ProviderConfig, make: Callable[[], Any]) -> Any:
    key = _index(provider)
    with _lock:
        if key not in _made:
            _made[key] = make()
        _made.move_to_end(key)
        return _made[key]


def _index(provider: ProviderConfig) -> str:
    parts = (provider.kind, provider.base_url, provider.api_key)
    return hashlib.sha256("\x00".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _forget() -> None:
    # In the child of a fork: the sockets are the parent's.
    global _lock
    _lock = threading.Lock()
    _made.clear()
    _busy.clear()


loop.at_close(close_all)
os.register_at_fork(after_in_child=_forget)
