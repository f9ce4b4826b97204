"""JSON at the doors: what is put right, what is refused, what is canonical."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workspaces.errors import Invalid
from workspaces.values import canonical, parse_json, require_clean, sanitise

NESTED: list = []
for _ in range(250):
    NESTED = [NESTED]

BAD = [
    "a\x00b",
    "\ud83d",
    math.nan,
    math.inf,
    -math.inf,
    10**4000,
    -(10**4000),
    NESTED,
    {"a\x00": 1},
    {"a": ["ok", {"b": "\udfff"}]},
]


@pytest.mark.parametrize("value", BAD, ids=range(len(BAD)))
def test_what_cannot_be_stored_is_replaced_for_models_and_refused_for_people(value):
    clean, changed = sanitise(value)
    assert changed
    require_clean(clean)
    json.dumps(clean, allow_nan=False).encode()
    with pytest.raises(Invalid):
        require_clean(value, "answer")


@pytest.mark.parametrize("value", [None, True, 0, 10**3999, 1.5, "", "é😀", [], {}, {"a": [1, {"b": None}]}])
def test_what_can_be_stored_is_left_alone(value):
    assert sanitise(value) == (value, False)
    require_clean(value)


def test_the_refusal_names_the_place():
    with pytest.raises(Invalid, match=r"answer\.files\[1\]\.name holds a NUL"):
        require_clean({"files": [{}, {"name": "\x00"}]}, "answer")


def test_two_keys_that_become_one_keep_both_values():
    clean, _ = sanitise({chr(0xD800): 1, chr(0xD801): 2})
    assert sorted(clean.values()) == [1, 2]


def test_things_json_does_not_have_become_text():
    assert sanitise({1: {2}}) == ({"1": "{2}"}, True)


@pytest.mark.parametrize(
    "text",
    [
        "NaN",
        "[Infinity]",
        "-Infinity",
        "1e400",
        '{"a": 1, "a": 2}',
        "",
        "{",
        "'a'",
        "[" * 100_000,
        "1" * 5000,
        b"\xff",
        b"\xef\xbb\xbf{}",
    ],
)
def test_json_that_python_would_take_too_lightly_is_refused(text):
    with pytest.raises(Invalid):
        parse_json(text)


def test_good_json_is_read_as_it_is():
    assert parse_json('{"a": [1, -2.5, "é", null, true]}') == {"a": [1, -2.5, "é", None, True]}
    assert parse_json(b'"\xc3\xa9"') == "é"


def test_canonical_text_does_not_depend_on_the_order_of_keys():
    assert canonical({"b": 1, "a": [" é"]}) == canonical({"a": [" é"], "b": 1}) == '{"a":[" é"],"b":1}'


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=())), inner),
)


@given(anything)
def test_whatever_was_put_right_is_clean_and_stays_as_it_is(value):
    clean, _ = sanitise(value)
    require_clean(clean)
    assert sanitise(clean) == (clean, False)
    assert parse_json(canonical(clean)) == clean
