"""Text as a person may see it: what the eye can't see is written out.

Lives here: the one display function for what may deceive (names of tools, arguments, titles, questions), JSON with
room to breathe, shortening. May not: escape HTML, which is the template's work.
Invariants: shown text holds no control, format, separator, private or unassigned code point but newline and tab, nor
one of the few that are blank though their category says letter; numbers and order of JSON stay as they were written;
what is shortened keeps its tail, and says how much is left out.
"""

import re
import unicodedata
from functools import lru_cache

_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs", "Co", "Cn", "Cs"})
# Blank or without width, though Unicode files them under letters, marks or symbols.
_BLANK = frozenset([0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, *range(0x180B, 0x1810)])
_SELECTORS = frozenset([*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)])
_KEPT = frozenset("\n\t ")
_JOINERS = frozenset("\u200c\u200d")
_EMOJI_STYLE = frozenset("\ufe0e\ufe0f")
# Direction, control and tag characters: never wanted, in prose of any language.
_DECEIVING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
)
# Scripts in which the joiners change how letters are written, as RFC 5892 lets them stand in names.
_JOINING = ((0x0600, 0x08FF), (0x0900, 0x0DFF), (0x1000, 0x109F), (0x1780, 0x18AF))
_PLAIN = re.compile(r"[\x20-\x7e\n\t]*")


def visible(text: str) -> str:
    """*text* with every hidden character as `⟨U+202E⟩`; newline and tab stay, and line ends become newlines."""
    text = text.replace("\r\n", "\n")
    if _PLAIN.fullmatch(text):
        return text
    return "".join(c if _is_seen(text, i, c) else escape_of(c) for i, c in enumerate(text))


def visible_prose(text: str) -> str:
    """*text* of a conversation: only what changes direction, controls or tags is written out."""
    text = text.replace("\r\n", "\n")
    return text if _PLAIN.fullmatch(text) else _DECEIVING.sub(lambda found: escape_of(found[0]), text)


def escape_of(character: str) -> str:
    """How a hidden character is written."""
    return f"⟨U+{ord(character):04X}⟩"


def _is_seen(text: str, at: int, character: str) -> bool:
    if character in _KEPT:
        return True
    if character in _JOINERS or character in _EMOJI_STYLE:
        return _belongs(text, at, character)
    code = ord(character)
    return not (unicodedata.category(character) in _HIDDEN_CATEGORIES or code in _BLANK or code in _SELECTORS)


def _belongs(text: str, at: int, character: str) -> bool:
    """Whether a joiner or an emoji's style stands where it only changes how its neighbours look."""
    before = text[at - 1] if at else " "
    after = text[at + 1] if at + 1 < len(text) else " "
    if character in _EMOJI_STYLE:
        return _is_picture(before)
    if character == "\u200d" and (_is_picture(before) or before in _EMOJI_STYLE) and _is_picture(after):
        return True
    return _joins(before) and _joins(after)


def _is_picture(character: str) -> bool:
    return unicodedata.category(character) in ("So", "Sk") and ord(character) > 0x2000 and ord(character) != 0x2800


def _joins(character: str) -> bool:
    code = ord(character)
    return any(low <= code <= high for low, high in _JOINING) and unicodedata.category(character)[0] in "LM"


def one_line(text: str, limit: int = 160) -> str:
    """The beginning of *text* on one line, hidden characters visible, cut at *limit* with an ellipsis."""
    line = " ".join(visible(text[: limit * 4]).split())
    return line if len(line) <= limit and len(text) <= limit * 4 else line[: limit - 1].rstrip() + "…"


def shortened(text: str, limit: int = 20_000) -> str:
    """*text*, or its head and its tail with a line between that says how many characters are left out."""
    if len(text) <= limit:
        return text
    head, tail = limit * 3 // 4, limit // 4
    return f"{text[:head]}\n⟨… {len(text) - head - tail} characters are left out here …⟩\n{text[-tail:]}"


_STRING_OR_MARK = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^"{}\[\],:\s]+')


@lru_cache(maxsize=256)
def indented(text: str) -> str:
    """JSON *text* with two spaces per level; every string, number and the order exactly as written."""
    out: list[str] = []
    depth = 0
    parts = _STRING_OR_MARK.findall(text)
    for at, part in enumerate(parts):
        if part in "{[":
            empty = at + 1 < len(parts) and parts[at + 1] in "}]"
            depth += not empty
            out.append(part if empty else part + _line(depth))
        elif part in "}]":
            empty = at > 0 and parts[at - 1] in "{["
            depth -= not empty
            out.append(part if empty else _line(depth) + part)
        else:
            out.append({",": "," + _line(depth), ":": ": "}.get(part, part))
    return "".join(out)


def _line(depth: int) -> str:
    return "\n" + "  " * min(max(depth, 0), 40)


def short_id(value: object) -> str:
    """The part of an id that a person reads and that differs: of a UUIDv7 the end, which is random."""
    return str(value).replace("-", "")[-8:]
