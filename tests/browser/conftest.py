"""A real Chromium for the walks: Debian's, found by its name, driven by playwright.

Without one the walks are skipped with a sentence that says how to get it; LAYBY_REQUIRE_BROWSER=1 makes that a
failure, which is how the whole check is run where it counts.
"""

import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect, sync_playwright

from tests.stack import Stack

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# A worker may just have started: a page is given longer than the five seconds of playwright.
expect.set_options(timeout=20_000)

MISSING = "No Chromium here, so no walk through the pages: install it (Debian: apt-get install chromium)."


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of an installed Chromium."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        if os.environ.get("LAYBY_REQUIRE_BROWSER") == "1":
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    return found


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    """Playwright's driver."""
    with sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="session")
def browser(chromium: str, playwright: Playwright) -> Iterator[Browser]:
    """One browser for the whole run."""
    started = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
    yield started
    started.close()


@pytest.fixture
def new_context(browser: Browser, stack: Stack) -> Iterator[Callable[..., BrowserContext]]:
    """Makes a person's own window: cookies of its own; options are playwright's (viewport, color_scheme, …)."""
    made: list[BrowserContext] = []

    def make(**options: Any) -> BrowserContext:
        context = browser.new_context(**{"base_url": stack.base_url, **options})
        context.set_default_timeout(15_000)
        made.append(context)
        return context

    yield make
    for context in made:
        context.close()


@pytest.fixture
def context(new_context: Callable[..., BrowserContext]) -> BrowserContext:
    """A window of a wide screen."""
    return new_context()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """A tab in it, nobody signed in."""
    return context.new_page()


def sign_in(page: Page, name: str, password: str) -> None:
    """Sign in by the login form, as a person does."""
    page.goto("/accounts/login/")
    page.locator("input[name=login]").fill(name)
    page.locator("input[name=password]").fill(password)
    page.locator("input[name=password]").press("Enter")
    page.wait_for_url(lambda url: "/accounts/login/" not in url)


@pytest.fixture
def admin_page(page: Page, stack: Stack) -> Page:
    """A tab in which the admin of the first run is signed in."""
    sign_in(page, "admin", stack.admin_password)
    return page


@dataclass(frozen=True)
class Place:
    """What tests/browser/seed.py made: the workspace `acme` with the cast and a session of each sort."""

    cookies: dict[str, str]
    tokens: dict[str, str]
    sessions: dict[str, str]

    def page_of(self, session: str, more: str = "") -> str:
        """The address of a session's page, by what it is an example of."""
        return f"/w/acme/sessions/{self.sessions[session]}/{more}"


@pytest.fixture(scope="session")
def place(stack: Stack) -> Place:
    """The cast, signed in, and pages of every sort; the worker stands still while they are made."""
    stack.kill("worker-1", signal.SIGSTOP)
    try:
        said = stack.manage("shell", "--no-imports", "-c", "from tests.browser.seed import seed; seed()", seconds=120)
    finally:
        stack.kill("worker-1", signal.SIGCONT)
    return Place(**json.loads(said.splitlines()[-1]))


@pytest.fixture
def window_of(new_context: Callable[..., BrowserContext], place: Place, stack: Stack) -> Callable[..., BrowserContext]:
    """A window in which somebody of the cast is signed in; options are playwright's."""

    def make(name: str, **options: Any) -> BrowserContext:
        context = new_context(**options)
        cookie = {"name": "layby_session", "value": place.cookies[name], "url": stack.base_url, "httpOnly": True}
        context.add_cookies([cookie])  # type: ignore[list-item]
        return context

    return make
