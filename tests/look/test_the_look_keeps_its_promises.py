"""What the content policy and the design demand of templates, styles and vendored code. Reads files only."""

import hashlib
import re
from pathlib import Path

import pytest
from django.template.loader import get_template

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
STATIC = ROOT / "static"
NAMES = [str(path.relative_to(ROOT / "templates")) for path in TEMPLATES]
# JSON that allauth's scripts read is data, not a script; one script in a page that is not ours has a nonce.
INLINE_SCRIPT = re.compile(r"<script(?![^>]*\b(src=|type=\"application/json\"|nonce=\"\{\{))[^>]*>")
INLINE_STYLE = re.compile(r"<style\b|\sstyle\s*=\s*[\"']")
INLINE_HANDLER = re.compile(r"\son[a-z]+\s*=\s*[\"']|\shx-on|\shx-vals\s*=\s*[\"']js:|href=[\"']javascript:")


@pytest.mark.parametrize("name", NAMES)
def test_a_template_compiles_and_has_nothing_that_the_content_policy_refuses(name: str) -> None:
    get_template(name)
    text = (ROOT / "templates" / name).read_text()
    assert not INLINE_SCRIPT.search(text)
    assert not INLINE_STYLE.search(text)
    assert not INLINE_HANDLER.search(text)
    assert 'hx-swap="morph:{' not in text  # evaluates its argument


@pytest.mark.parametrize("name", NAMES)
def test_only_the_picture_of_a_new_second_factor_is_marked_safe(name: str) -> None:
    text = (ROOT / "templates" / name).read_text()
    marked = re.findall(r"\{\{[^}]*\|\s*safe[^}]*\}\}|\{%\s*autoescape\s+off", text)
    assert marked == (["{{ totp_svg|safe }}"] if name == "mfa/totp/activate_form.html" else [])


@pytest.mark.parametrize("name", NAMES)
def test_no_page_names_a_foreign_address(name: str) -> None:
    text = (ROOT / "templates" / name).read_text()
    assert not re.search(r"(?:src|href|action|hx-get|hx-post)=[\"'](?:https?:)?//", text)


def test_every_icon_that_a_template_uses_is_in_the_sprite() -> None:
    known = set(re.findall(r'<symbol id="([^"]+)"', (STATIC / "img" / "icons.svg").read_text()))
    text = "\n".join(path.read_text() for path in TEMPLATES)
    used = set(re.findall(r'components/icon\.html" with name="([^"]+)"', text))
    used |= set(re.findall(r'\bicon="([^"]+)"', text)) | set(re.findall(r"icons\.svg' %\}#([a-z-]+)", text))
    assert used - known == set()


def test_the_style_sheet_has_at_most_20_kb_and_no_foreign_address() -> None:
    css = (STATIC / "css" / "layby.css").read_bytes()
    assert len(css) <= 20_000
    assert b"url(" not in css
    assert b"@import" not in css


def test_vendored_code_is_what_its_list_says() -> None:
    listed = dict(
        re.findall(r"\| `([^`]+\.js)` \|.*\| `([0-9a-f]{64})` \|", (STATIC / "vendor" / "README.md").read_text())
    )
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (STATIC / "vendor").glob("*.js")}
    assert listed == found
    base = (ROOT / "templates" / "base.html").read_text()
    assert all(f"vendor/{name}" in base for name in found)


def test_htmx_may_not_evaluate_or_leave_the_site() -> None:
    base = (ROOT / "templates" / "base.html").read_text()
    for setting in (
        '"allowEval":false',
        '"selfRequestsOnly":true',
        '"allowScriptTags":false',
        '"includeIndicatorStyles":false',
    ):
        assert setting in base
