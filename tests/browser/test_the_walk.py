"""The main job, as a person does it: make an agent, give it a task, see it wait, answer, see it end, open the file."""

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import sign_in
from tests.stack import Stack

pytestmark = [pytest.mark.stack, pytest.mark.browser]

TASK = "Decide which of these two filenames you prefer and create the file"
SCRIPT = [
    {
        "say": "Both would do.",
        "calls": [
            {
                "tool": "system__ask_user",
                "arguments": {"prompt": "Which name: **report-july.md** or 2026-07-report.md?"},
            }
        ],
    },
    {
        "calls": [
            {
                "tool": "workspace__write_file",
                "arguments": {"path": "walk/chosen.md", "content": "You said {{ result }}"},
            }
        ]
    },
    {"say": "The file is written."},
]


def chip(page: Page):
    return page.locator("#state")


def make_agent(page: Page, slug: str) -> None:
    page.get_by_role("navigation").get_by_role("link", name="Agents").first.click()
    page.get_by_role("link", name="New agent").first.click()
    page.get_by_label("Name").first.fill("Walker")
    page.locator("input[name=slug]").fill(slug)
    page.locator("input[name=model]").fill("scripted:walk")
    page.locator(".tabs").get_by_role("link", name="Tools").click()
    for toolset in ("system", "workspace"):
        page.locator(f"input[name=toolset][value={toolset}]").check()
    page.locator(".tabs").get_by_role("link", name="Script").click()
    page.locator("textarea[name=script]").fill(json.dumps(SCRIPT))
    page.get_by_role("button", name="Make the agent").click()
    expect(page.get_by_text("v1 ·").first).to_be_visible()


def walk(page: Page, slug: str) -> None:
    make_agent(page, slug)
    page.get_by_role("navigation").get_by_role("link", name="Sessions").first.click()
    page.get_by_role("link", name="Start a session").first.click()
    page.locator("select[name=agent]").select_option(slug)
    page.locator("textarea[name=input]").fill(TASK)
    page.get_by_role("button", name="Start the session").click()

    expect(chip(page)).to_contain_text("Waiting")
    address = page.url
    page.evaluate("window.layby_not_reloaded = true")
    question = page.locator("form.card.ask")
    expect(question).to_contain_text("Which name: report-july.md")
    question.get_by_placeholder("Your answer").fill("report-july.md")
    question.get_by_role("button", name="Send answer").click()

    expect(chip(page)).to_contain_text("Completed")
    expect(page.locator("form.card.ask")).to_have_count(0)
    assert page.url == address and page.evaluate("window.layby_not_reloaded") is True
    expect(page.locator("#road")).to_contain_text("The file is written.")

    page.get_by_role("navigation").get_by_role("link", name="Files").first.click()
    page.get_by_role("link", name=re.compile("walk")).first.click()
    page.get_by_role("link", name=re.compile("chosen.md")).first.click()
    expect(page.get_by_text('You said {"response":"report-july.md"}')).to_be_visible()


def test_the_walk_live(admin_page: Page) -> None:
    walk(admin_page, "walker")


def test_the_walk_with_the_socket_blocked(
    new_context: Callable[..., BrowserContext], stack: Stack, browser: object
) -> None:
    context = new_context()
    context.route_web_socket(re.compile(".*"), lambda socket: socket.close())
    page = context.new_page()
    sign_in(page, "admin", stack.admin_password)
    walk(page, "walker-without-a-socket")
