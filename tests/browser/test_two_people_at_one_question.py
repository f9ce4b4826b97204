"""Alice and Bob at one question, Victor who only looks, and a browser without scripts."""

import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import Place
from tests.stack import Stack

pytestmark = [pytest.mark.stack, pytest.mark.browser]

Window = Callable[..., BrowserContext]
FIRST = {"tool": "system__ask_user", "arguments": {"prompt": "Red or blue?"}}
SECOND = {"tool": "system__ask_user", "arguments": {"prompt": "Left or right?"}}
START = "That question is closed. What you typed was not sent"


@pytest.fixture
def asked(stack: Stack, place: Place) -> Callable[..., str]:
    """Start a session with a script; the address of its page, once it waits."""

    def start(script: list[dict[str, Any]]) -> str:
        slug = f"two-{uuid.uuid4().hex[:8]}"
        body = {"slug": slug, "name": "Asker", "model": "scripted:test", "system_prompt": "", "tools": ["system"]}
        status, said = stack.call("POST", "/api/agents", {**body, "script": script}, place.tokens["admin"])
        assert status == 201, said
        token = place.tokens["operator"]
        status, said = stack.call("POST", "/api/sessions", {"agent": slug, "input": "Ask."}, token)
        assert status == 201, said
        one = f"/api/sessions/{said['id']}"
        stack.until(lambda: stack.call("GET", one, token=token)[1]["state"] == "parked", 20, "it did not wait")
        return f"/w/acme/sessions/{said['id']}/"

    return start


def opened(window: BrowserContext, address: str) -> Page:
    page = window.new_page()
    page.goto(address)
    return page


def card(page: Page, prompt: str) -> Any:
    return page.locator("form.card.ask", has_text=prompt)


def answer(page: Page, prompt: str, text: str) -> None:
    card(page, prompt).get_by_placeholder("Your answer").fill(text)
    card(page, prompt).get_by_role("button", name="Send answer").click()


def test_the_second_answer_is_told_that_it_is_too_late_and_is_kept(
    window_of: Window, asked: Callable[..., str]
) -> None:
    address = asked([{"calls": [FIRST]}, {"say": "Done."}])
    slow = window_of("bob")
    slow.route_web_socket(re.compile(".*"), lambda socket: socket.close())
    slow.route("**/live/**", lambda route: route.abort())
    alice, bob = opened(window_of("alice"), address), opened(slow, address)
    answer(alice, "Red or blue?", "Red, please")
    expect(alice.locator("#state")).to_contain_text("Completed")

    answer(bob, "Red or blue?", "Blue, because it is calm")
    late = bob.locator("#unsent [role=alert]")
    expect(late).to_contain_text("Arrived too late, not delivered.")
    expect(late).to_contain_text("alice")
    expect(late.locator("pre")).to_have_text("Blue, because it is calm")
    expect(bob.locator("form.card.ask")).to_have_count(0)
    expect(bob.locator("#state")).to_contain_text("Completed")
    expect(bob.locator("#road")).to_contain_text("Red, please")
    expect(late).to_be_in_viewport()


def test_a_half_typed_answer_survives_what_others_do(window_of: Window, asked: Callable[..., str]) -> None:
    address = asked([{"calls": [FIRST, SECOND]}, {"say": "Done."}])
    alice, bob = opened(window_of("alice"), address), opened(window_of("bob"), address)
    field = card(alice, "Red or blue?").get_by_placeholder("Your answer")
    field.click()
    alice.keyboard.type("Rather re")
    answer(bob, "Left or right?", "Left")
    expect(card(alice, "Left or right?")).to_have_count(0)
    expect(field).to_have_value("Rather re")
    expect(field).to_be_focused()
    alice.keyboard.type("d")
    expect(field).to_have_value("Rather red")
    alice.reload()
    expect(field).to_have_value("Rather red")
    card(alice, "Red or blue?").get_by_role("button", name="Send answer").click()
    expect(bob.locator("#road")).to_contain_text("Rather red")


def test_a_half_typed_answer_is_handed_back_and_never_moved_to_another_question(
    window_of: Window, asked: Callable[..., str]
) -> None:
    address = asked([{"calls": [FIRST]}, {"calls": [SECOND]}, {"say": "Done."}])
    alice, bob = opened(window_of("alice"), address), opened(window_of("bob"), address)
    card(alice, "Red or blue?").get_by_placeholder("Your answer").click()
    alice.keyboard.type("Rather red")
    answer(bob, "Red or blue?", "Blue")
    expect(card(alice, "Left or right?")).to_be_visible()
    expect(card(alice, "Left or right?").get_by_placeholder("Your answer")).to_have_value("")
    expect(alice.locator("#unsent")).to_contain_text(START)
    expect(alice.locator("#unsent pre")).to_have_text("Rather red")
    alice.keyboard.type(" after all")  # what goes on being typed lands in no card
    expect(card(alice, "Left or right?").get_by_placeholder("Your answer")).to_have_value("")
    expect(bob.locator("#unsent pre")).to_have_count(0)


def test_who_only_looks_sees_why_and_no_button(window_of: Window, place: Place) -> None:
    page = window_of("victor").new_page()
    for name in ("text", "schema", "options", "unknown", "attention", "paused", "failed"):
        page.goto(place.page_of(name))
        expect(page.locator("h1")).to_be_visible()
        for what in (
            "main form[method=post] button",
            "main [name=response]",
            "main input:not([type=hidden])",
            "main textarea",
        ):
            assert page.locator(what).count() == 0, (name, what)
        if name in ("text", "schema", "options", "unknown"):
            expect(page.locator(".card.ask")).to_contain_text("your role only looks")
    page.goto("/w/acme/sessions/")
    assert page.get_by_role("link", name="Start a session").count() == 0


def test_without_scripts_an_answer_is_a_plain_form(window_of: Window, asked: Callable[..., str]) -> None:
    address = asked([{"calls": [FIRST]}, {"say": "It is {{ result }}"}])
    page = opened(window_of("alice", java_script_enabled=False), address)
    expect(page.locator("main noscript p")).to_contain_text("Reload it to see what is new")
    answer(page, "Red or blue?", "Red")
    expect(page.locator("form.card.ask")).to_have_count(0)
    assert page.url.endswith(address)
    for _ in range(40):
        if page.get_by_text("Completed").count():
            break
        page.wait_for_timeout(250)
        page.reload()
    expect(page.locator("#road")).to_contain_text('It is {"response":"Red"}')
