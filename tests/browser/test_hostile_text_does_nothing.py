"""What agents, tools, files and people say is text in a real browser too: no script runs, nothing is fetched from
elsewhere, nothing is sent by itself, whether it comes with the page or live into an open one."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.conftest import Place
from tests.browser.payloads import ALL, LABELS, PAYLOADS, file_names
from tests.browser.watching import Watch
from tests.stack import Stack
from tests.strict import Call, Reply, StrictOpenAI

pytestmark = [pytest.mark.stack, pytest.mark.browser]

SCHEMA = {
    "type": "object",
    "title": PAYLOADS[2],
    "properties": {
        "few": {"enum": PAYLOADS[:4], "title": PAYLOADS[4], "description": ALL},
        "many": {"enum": PAYLOADS, "title": PAYLOADS[5]},
        **{
            text: {"type": "string", "title": text, "description": text, "examples": [text], "default": text}
            for text in PAYLOADS[6:12]
        },
        "yes": {"type": "boolean", "title": PAYLOADS[12]},
        "text": {"type": "array", "items": {"type": "string"}, "title": PAYLOADS[13]},
        "json": {"type": "object", "title": PAYLOADS[14], "default": {PAYLOADS[15]: PAYLOADS[16]}},
    },
    "required": ["few"],
}
QUESTIONS = [
    [
        {
            "question": "\n".join(LABELS[start : start + 16])[:500],
            "header": LABELS[start][:23] + str(n),
            "multi_select": n % 2 == 0,
            "options": [
                {"label": LABELS[i % len(LABELS)], "description": PAYLOADS[i % len(LABELS)][:200]}
                for i in range(start + n * 4, start + n * 4 + 4)
            ],
        }
        for n in range(4)
    ]
    for start in (0, 16, 32)
]
SCRIPT = [
    Reply(PAYLOADS[0], [Call("system__ask_user", {"prompt": "Shall I go on?"})]),
    Reply(
        ALL,
        [
            # One file has all of it, the others their own: the vendor streams seven characters at a time.
            *(
                Call("workspace__write_file", {"path": f"evil/{name}", "content": text if number else ALL})
                for number, (name, text) in enumerate(zip(file_names(), PAYLOADS, strict=True))
            ),
            Call("workspace__read_file", {"path": f"evil/{file_names()[0]}"}),
            Call("workspace__list_files", {"path": "evil"}),
            Call("workspace__grep", {"pattern": ".", "path": "evil"}),
            Call("workspace__read_file", {"path": PAYLOADS[4]}),
            Call("system__inform_user", {"message": ALL[:7000]}),
            Call("<img src=x onerror=alert(1)>", {PAYLOADS[0]: PAYLOADS[1]}),
        ],
    ),
    Reply(
        ALL,
        [
            Call("system__ask_user", {"prompt": ALL[:7900], "response_schema": SCHEMA}),
            *(Call("system__ask_question", {"questions": questions}) for questions in QUESTIONS),
        ],
    ),
    ALL,
]


@pytest.fixture(scope="module")
def vendor() -> Iterator[StrictOpenAI]:
    with StrictOpenAI(SCRIPT) as server:
        yield server


@pytest.fixture(scope="module")
def session(stack: Stack, place: Place, vendor: StrictOpenAI) -> str:
    """The address of a session's page that waits for the first, harmless answer; all names around it are hostile."""

    def made(path: str, body: dict[str, Any], role: str = "admin") -> Any:
        status, said = stack.call("POST", path, body, place.tokens[role])
        assert status == 201, said
        return said

    made(
        "/api/model-providers",
        {"slug": "evil", "kind": "openai", "base_url": vendor.base_url, "api_key": vendor.api_key},
    )
    agent = {
        "slug": "evil",
        "name": PAYLOADS[4],
        "model": f"evil:{LABELS[0].replace(' ', '')}",
        "system_prompt": ALL,
        "tools": ["system", "workspace"],
        "suspension": {"may_ask_questions": True},
        "limits": {"tool_calls_per_turn": None},
    }
    made("/api/agents", agent)
    for number in range(0, len(LABELS), 2):
        made("/api/agents", {**agent, "slug": f"evil-{number}", "name": " ".join(LABELS[number : number + 2])})
    start = {"agent": "evil", "input": ALL, "title": PAYLOADS[19], "metadata": {PAYLOADS[0]: ALL}}
    return f"/w/acme/sessions/{made('/api/sessions', start, 'operator')['id']}/"


@pytest.fixture(scope="module")
def window(browser: Browser, place: Place, stack: Stack, session: str) -> Iterator[tuple[BrowserContext, Watch]]:
    context = browser.new_context(base_url=stack.base_url)
    context.set_default_timeout(15_000)
    cookie = {"name": "layby_session", "value": place.cookies["ada"], "url": stack.base_url}
    context.add_cookies([cookie])  # type: ignore[list-item]
    yield context, Watch(context, stack)
    context.close()


def nothing_happened(page: Page, watch: Watch, *, posted: int = 0) -> None:
    """No script, no frame, no foreign request, no form but those that were sent on purpose."""
    assert page.evaluate("window.layby_owned === undefined")
    assert len(page.frames) == 1
    assert watch.foreign == []
    assert len(watch.posted) == posted, watch.posted
    refused = ("status of 4", "Status Error Code 422")  # said by the browser and by htmx of answers that refuse
    assert [one for one in watch.errors if not any(words in one for words in refused)] == []
    made = "main :is(script, iframe, object, embed, img, style, link, base, meta, video, audio, picture, portal, math)"
    assert page.locator(made).count() == 0
    assert (
        page.locator("main :is([onerror], [onload], [onfocus], [style], [srcdoc], [ping], [background])").count() == 0
    )


def unfold(page: Page) -> None:
    """Open everything that can be opened, scroll to the end, and give what was started time to happen."""
    page.evaluate("document.querySelectorAll('main details').forEach(one => { one.open = true })")
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.wait_for_timeout(150)


@pytest.fixture(scope="module")
def filled(window: tuple[BrowserContext, Watch], session: str) -> str:
    """The session's address once all of it has come, live, into an open page: which must have been text already.

    A fixture, so that the tests below find it there in whatever order they run.
    """
    context, watch = window
    page = context.new_page()
    page.goto(session)
    first = page.locator("form.card.ask", has_text="Shall I go on?")
    first.get_by_placeholder("Your answer").fill(ALL)
    watch.start()
    first.get_by_role("button", name="Send answer").click()
    expect(page.locator("form.card.ask")).to_have_count(4, timeout=30_000)
    expect(page.locator("#road")).to_contain_text("{{ 7|add:'7' }}")
    expect(page.locator("#road > .stay")).to_contain_text("<script>")
    assert page.locator("#road").count() == page.locator("#aside").count() == 1, "nothing of ours was swapped away"
    unfold(page)
    nothing_happened(page, watch, posted=1)

    card = page.locator("form.card.ask").first
    card.locator("input[type=text], textarea").first.fill(ALL)
    card.get_by_role("button", name="Send answer").click()  # a required choice is missing: the browser says so
    card.evaluate("form => { form.noValidate = true; form.requestSubmit() }")
    expect(card.locator(".error, .errors").first).to_be_visible()
    unfold(page)
    nothing_happened(page, watch, posted=2)
    page.close()
    return session


def test_what_came_live_into_an_open_page_stands_there_as_text(
    window: tuple[BrowserContext, Watch], filled: str
) -> None:
    context, watch = window
    page = context.new_page()
    watch.start()
    page.goto(filled)
    for text in PAYLOADS[:8]:
        expect(page.locator("#road")).to_contain_text(text.split("\n")[0][:12])
    nothing_happened(page, watch)
    page.close()


PAGES = [
    "{session}",
    "{session}?tab=timeline",
    "{session}?tab=calls",
    "/w/acme/",
    "/w/acme/sessions/",
    "/w/acme/sessions/?q=%22%3E%3Cimg+src%3Dx+onerror%3Dalert(1)%3E&agent=%3Cscript%3E",
    "/w/acme/sessions/start/?agent=%22%3E%3Cscript%3Ealert(1)%3C/script%3E",
    "/w/acme/agents/",
    "/w/acme/agents/evil/",
    "/w/acme/agents/evil/versions/",
    "/w/acme/providers/",
    "/w/acme/files/evil/",
    "/w/acme/sessions/?state=%3Cscript%3Ealert(1)%3C/script%3E",
    "/no/such/<script>alert(1)</script>",
    "/accounts/login/?next=javascript:alert(1)",
]


@pytest.mark.parametrize("path", PAGES)
def test_a_page_full_of_it_does_nothing(path: str, window: tuple[BrowserContext, Watch], filled: str) -> None:
    context, watch = window
    page = context.new_page()
    watch.start()
    page.goto(path.replace("{session}", filled))
    unfold(page)
    nothing_happened(page, watch)
    page.close()


def test_a_file_of_each_name_is_text(window: tuple[BrowserContext, Watch], filled: str) -> None:
    context, watch = window
    page = context.new_page()
    watch.start()
    page.goto("/w/acme/files/evil/")
    links = page.locator("main a.row")
    assert links.count() == len(PAYLOADS)
    for number in range(0, len(PAYLOADS), 10):
        links.nth(number).click()
        expect(page.locator("main pre").first).to_be_visible()
        unfold(page)
        nothing_happened(page, watch)
        page.go_back()
    page.close()


def test_the_end_of_it_is_text(window: tuple[BrowserContext, Watch], filled: str, vendor: StrictOpenAI) -> None:
    context, watch = window
    page = context.new_page()
    page.goto(filled)
    watch.start()
    for left in range(4, 0, -1):
        card = page.locator("form.card.ask").first
        card.locator("details.confirm > summary").click()
        card.locator("[name=reason]").fill(ALL[:1900])
        card.locator("details.confirm button").click()
        expect(page.locator("form.card.ask")).to_have_count(left - 1)
    expect(page.locator("#state")).to_contain_text("Completed")
    unfold(page)
    nothing_happened(page, watch, posted=4)
    page.close()
    assert vendor.refusals == []
