"""A session is started and answered without a mouse; where the focus is can always be seen."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.conftest import Place

pytestmark = [pytest.mark.stack, pytest.mark.browser]

# What has the focus: whether it is marked, lies in the window with some size and nothing lies over it.
FOCUS = """() => {
  const at = document.activeElement, box = at.getBoundingClientRect(), style = getComputedStyle(at);
  const x = Math.min(innerWidth - 1, Math.max(0, box.left + Math.min(box.width / 2, 12)));
  const y = Math.min(innerHeight - 1, Math.max(0, box.top + Math.min(box.height / 2, 12)));
  const over = document.elementFromPoint(x, y);
  return {
    what: at.outerHTML.slice(0, 160),
    marked: at.matches(":focus-visible") && style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
    shown: box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0,
    free: !over || at.contains(over) || over.contains(at) || at.labels?.[0]?.contains(over) === true,
  };
}"""
DECIDES = "() => !!document.activeElement.closest('form[method=post] button, .confirm summary')"


def focus_is_seen(page: Page) -> None:
    seen = page.evaluate(FOCUS)
    assert seen["marked"], f"no mark of the focus on {seen['what']}"
    assert seen["shown"], f"out of sight: {seen['what']}"
    assert seen["free"], f"covered: {seen['what']}"


def tab_to(page: Page, target: Locator, most: int = 80) -> None:
    """Press Tab until *target* has the focus; each stop on the way can be seen."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            continue  # the browser's own controls, before it begins anew
        focus_is_seen(page)
        if target.evaluate("one => one === document.activeElement"):
            return
    raise AssertionError(f"{target} is not reached by Tab")


@pytest.fixture
def page(window_of: Callable[..., BrowserContext]) -> Page:
    return window_of("alice").new_page()


def test_a_session_is_started_and_answered_by_keys_alone(page: Page) -> None:
    page.goto("/w/acme/sessions/")
    tab_to(page, page.get_by_role("link", name="Start a session").first)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Start a session")).to_be_visible()
    assert not page.evaluate(DECIDES)
    tab_to(page, page.get_by_label("Agent"))
    page.keyboard.type("File chooser")
    tab_to(page, page.get_by_label("Task"))
    page.keyboard.type("Choose a name by keys alone")
    page.keyboard.press("Control+Enter")

    card = page.locator("form.card.ask")
    expect(card).to_be_visible()
    assert not page.evaluate(DECIDES), "the card must not come with its button under the fingers"
    tab_to(page, card.get_by_placeholder("Your answer"))
    page.keyboard.type("report-july.md")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#state")).to_contain_text("Completed")
    expect(page.locator("#road")).to_contain_text("report-july.md")
    assert not page.evaluate(DECIDES)


def test_every_stop_of_a_long_card_can_be_seen_and_enter_in_a_field_sends_nothing(page: Page, place: Place) -> None:
    page.set_viewport_size({"width": 1360, "height": 600})
    page.goto(place.page_of("schema"))
    posted: list[str] = []
    page.on("request", lambda request: posted.append(request.url) if request.method == "POST" else None)
    skip = page.locator("form.card.ask summary", has_text="Skip this question")
    tab_to(page, skip)
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_role("button", name="Skip this question"))
    assert posted == []


def test_the_help_opens_and_closes_and_gives_the_focus_back(page: Page) -> None:
    page.goto("/w/acme/sessions/")
    dialog = page.locator("dialog#shortcuts")
    expect(dialog).to_be_hidden()
    page.keyboard.press("?")
    expect(dialog).to_be_visible()
    focus_is_seen(page)
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    button = page.get_by_role("button", name="Keyboard shortcuts")
    tab_to(page, button)
    page.keyboard.press("Enter")
    expect(dialog).to_be_visible()
    tab_to(page, dialog.get_by_role("button", name="Close"))
    page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    expect(button).to_be_focused()
    page.locator("#q").focus()
    page.keyboard.type("?")
    expect(dialog).to_be_hidden()
    expect(page.locator("#q")).to_have_value("?")


def test_the_skip_link_leads_past_the_rail(page: Page) -> None:
    page.goto("/w/acme/sessions/")
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the page")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.querySelector('main').contains(document.activeElement)")
