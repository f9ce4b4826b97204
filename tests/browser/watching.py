"""What a tab does that nobody asked it to: requests to other hosts, sent forms, errors, violations of the policy."""

from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request, Route

from tests.stack import Stack


class Watch:
    """Listens to a context from now on. Foreign requests are noted and refused, so that nothing ever leaves."""

    def __init__(self, context: BrowserContext, stack: Stack) -> None:
        self._home = urlsplit(stack.base_url).netloc
        self.foreign: list[str] = []
        self.posted: list[str] = []
        self.errors: list[str] = []
        self.listening = True
        context.route(lambda url: urlsplit(url).netloc != self._home, self._refuse)
        context.on("request", self._saw)
        context.on("page", self._new)

    def start(self) -> None:
        """Forget what was seen and listen again."""
        self.foreign, self.posted, self.errors, self.listening = [], [], [], True

    def _refuse(self, route: Route) -> None:
        if not route.request.url.startswith(("data:", "blob:", "about:")):
            self.foreign.append(route.request.url)
        route.abort()

    def _saw(self, request: Request) -> None:
        if request.method != "GET":
            self.posted.append(f"{request.method} {request.url}")

    def _new(self, page: Page) -> None:
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.errors.append(f"{page.url}: {error}"))
        page.on("dialog", lambda dialog: (self.errors.append(f"{page.url}: dialog {dialog.message}"), dialog.dismiss()))

    def _said(self, message: ConsoleMessage) -> None:
        if self.listening and message.type in ("error", "warning"):
            self.errors.append(f"{message.page.url if message.page else ''}: {message.type} {message.text}")

    def nothing(self, allowed: tuple[str, ...] = ()) -> None:
        """Assert that nothing happened by itself; *allowed* are beginnings of what was meant (`POST http…`)."""
        assert self.foreign == []
        assert [one for one in self.posted if not one.startswith(allowed)] == [] if allowed else self.posted == []
        assert self.errors == []
