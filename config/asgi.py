"""What the web process serves: Django over HTTP, and one read-only WebSocket for live pages."""

import os
from typing import Any
from urllib.parse import urlsplit

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
_http = get_asgi_application()  # before anything that imports models

from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.security.websocket import WebsocketDenier  # noqa: E402
from django.conf import settings  # noqa: E402

from sessions.consumers import routes  # noqa: E402


class SameOrigin:
    """Lets a socket in only from our own pages: Origin is the public address, or a loopback one that equals Host.

    A missing Origin, `null`, another port, a sub-domain and another scheme are refused.
    """

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> Any:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"] if name in (b"origin", b"host")}
        allowed = same_origin(headers.get(b"origin", ""), headers.get(b"host", ""))
        return await (self.app if allowed else WebsocketDenier())(scope, receive, send)


def same_origin(origin: str, host: str) -> bool:
    """Whether a page of *origin* is ours, when the socket was asked for at *host*."""
    origin, host = origin.lower(), host.lower()
    if origin == settings.PUBLIC_URL.lower():
        return True
    name = urlsplit(f"//{host}").hostname or ""
    return (f"[{name}]" if ":" in name else name) in settings.LOOPBACK and origin == f"http://{host}"


application = ProtocolTypeRouter({"http": _http, "websocket": SameOrigin(AuthMiddlewareStack(URLRouter(routes)))})
