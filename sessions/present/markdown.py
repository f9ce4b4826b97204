"""Markdown of agents and people as HTML that can do nothing: the only place that marks stored text as safe.

Invariants: no raw HTML goes in (it is escaped); what comes out has a few tags of prose and no attribute but a link's
`href`; a link goes to http, https or mailto, in a tab of its own, and tells nobody where it was; a picture is a link
to it, so that a page fetches nothing by itself.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import nh3
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from sessions.present.display import visible_prose

# Above these the text is shown as it is: nobody reads it as prose, and the work stays bounded (40,000 "[" are 3 s).
MAX_CHARACTERS = 30_000
MAX_MARKS = 2_500
SCHEMES = {"http", "https", "mailto"}
TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s", "strong",
    "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip


def _picture(renderer: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    token = tokens[at]
    words = renderer.renderInlineAsText(token.children or [], options, env)
    address = str(token.attrs.get("src", ""))
    return f'<a href="{escape(address)}">{escape(words or address)}</a>'


def _leads_out(url: str) -> bool:
    return url.strip().lower().partition(":")[0] in SCHEMES and ":" in url


_parser = MarkdownIt("commonmark", {"html": False, "linkify": False, "typographer": False, "maxNesting": 20})
_parser.enable(["table", "strikethrough"])
_parser.validateLink = _leads_out  # type: ignore[method-assign]
_parser.add_render_rule("image", _picture)


def _heading(tokens: list[Token]) -> list[Token]:
    # The page's own outline ends at h2: a reader who jumps by headings must not take the agent's for ours.
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 2, 6)}"
    return tokens


@lru_cache(maxsize=512)
def rendered(text: str) -> SafeString:
    """*text* as clean HTML; "" for text that is too long to be prose (show it as it is) or blank."""
    if not text.strip() or len(text) > MAX_CHARACTERS or sum(map(text.count, "[*_`<|&")) > MAX_MARKS:
        return SafeString("")
    html = _parser.renderer.render(_heading(_parser.parse(visible_prose(text))), _parser.options, {})
    clean = nh3.clean(
        html,
        tags=TAGS,
        attributes={"a": {"href"}},
        set_tag_attribute_values={"a": {"target": "_blank"}},
        url_schemes=SCHEMES,
        url_relative="deny",
        link_rel="noopener noreferrer nofollow",
    )
    # Safe: the parser escaped all HTML, and nh3 let through only the tags and the one attribute above.
    return mark_safe(clean)  # noqa: S308


def words(text: str) -> dict[str, Any]:
    """What somebody said, for `_words.html`: `html`, or `text` as it is where it can't be rendered."""
    html = rendered(text)
    return {"html": html, "text": "" if html else visible_prose(text)}
