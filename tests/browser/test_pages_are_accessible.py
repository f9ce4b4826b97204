"""Each page, wide and on a phone, light and dark: axe finds nothing serious, nothing sticks out, nothing goes wrong.

The page is loaded once and looked at in all four ways. What it does by itself (requests, errors, violations of the
content policy) is judged before axe comes in, which breaks the policy itself.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, Page

from tests.browser.conftest import Place
from tests.browser.pages import PAGES, address
from tests.browser.watching import Watch
from tests.stack import Stack

pytestmark = [pytest.mark.stack, pytest.mark.browser]

WIDE, PHONE = {"width": 1360, "height": 900}, {"width": 390, "height": 844}
EVERYTHING: dict[str, Any] = {"resultTypes": ["violations"]}
COLOURS = {**EVERYTHING, "runOnly": ["color-contrast"]}  # the only thing that light and dark have different
Desk = tuple[Page, Watch]


@pytest.fixture(scope="module")
def desk_of(browser: Browser, place: Place, stack: Stack) -> Iterator[Callable[[str], Desk]]:
    """One tab per person for the whole module, with a watch over it; "" is nobody."""
    desks: dict[str, Desk] = {}

    def desk(name: str) -> Desk:
        if name not in desks:
            context = browser.new_context(base_url=stack.base_url)
            if name:
                cookie = {"name": "layby_session", "value": place.cookies[name], "url": stack.base_url}
                context.add_cookies([cookie])  # type: ignore[list-item]
            watch = Watch(context, stack)
            desks[name] = context.new_page(), watch
        return desks[name]

    yield desk
    for page, _ in desks.values():
        page.context.close()


def serious(page: Page, options: dict[str, Any]) -> list[str]:
    """What axe finds serious or critical."""
    found = page.evaluate("options => axe.run(document, options)", options)["violations"]
    return [
        f"{one['id']}: {node['target']} {node['html'][:200]} {node.get('failureSummary', '')}"
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


def as_seen(page: Page, scheme: str, viewport: Any) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.set_viewport_size(viewport)


@pytest.mark.parametrize("name", PAGES)
def test_a_page(name: str, desk_of: Callable[[str], Desk], place: Place) -> None:
    page, watch = desk_of(PAGES[name][0])
    as_seen(page, "light", WIDE)
    page.goto("about:blank")
    watch.start()
    answer = page.goto(address(place, name), wait_until="load")
    assert answer is None or answer.status == (404 if name.startswith("missing") else 200)
    if answer and answer.status == 200 and "/w/acme/" in page.url:
        assert page.title().startswith("("), "what needs a person is counted in the title of every page"
        assert page.locator(".rail .foot").count() == 1
    assert page.evaluate("document.activeElement.tagName") not in ("BUTTON", "SUMMARY"), (
        "nothing decides by Enter alone"
    )
    for viewport in (WIDE, PHONE):
        as_seen(page, "light", viewport)
        box = page.evaluate("[document.scrollingElement.scrollWidth, document.scrollingElement.clientWidth]")
        assert box[0] <= box[1], f"{box[0] - box[1]} px stick out at {viewport['width']} px"
    watch.errors = [one for one in watch.errors if "status of 404" not in one]
    watch.nothing()

    watch.listening = False
    page.evaluate(AXE_SCRIPT)
    assert serious(page, COLOURS) == [], "phone, light"
    as_seen(page, "dark", PHONE)
    assert serious(page, EVERYTHING) == [], "phone, dark"
    as_seen(page, "dark", WIDE)
    assert serious(page, COLOURS) == [], "wide, dark"
    as_seen(page, "light", WIDE)
    assert serious(page, EVERYTHING) == [], "wide, light"
