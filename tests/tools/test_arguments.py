"""A call's arguments are read strictly, checked by the tool's schema, and never replaced (cases I02, H01 to H03)."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.tools.arguments import MAX_CHARACTERS, BadArguments, ParsedArguments, parse
from sessions.tools.system import ask_question, ask_user, get_datetime
from workspaces.values import canonical, require_clean

from .fakes import tool_taking

FIND = tool_taking(
    {
        "type": "object",
        "properties": {
            "word": {"type": "string", "minLength": 1},
            "limit": {"type": "integer", "minimum": 1, "default": 20},
            "deep": {
                "anyOf": [
                    {"type": "object", "properties": {"a": {}, "b": {"type": "array", "items": {"type": "object"}}}},
                    {"type": "null"},
                ]
            },
        },
        "required": ["word"],
    }
)
NOTHING = tool_taking({"type": "object", "properties": {}})


def test_arguments_that_fit_come_back_as_value_and_canonical_text_without_defaults():
    assert parse(FIND, ' {"word": "é", \n "limit": 3} ') == ParsedArguments(
        {"word": "é", "limit": 3}, '{"limit":3,"word":"é"}', False
    )
    assert parse(FIND, '{"word":"a"}') == ParsedArguments({"word": "a"}, '{"word":"a"}', False)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ('{"word": "x"', "not valid JSON: .* column"),
        ('{"word": "x",}', "not valid JSON"),
        ("{'word': 'x'}", "not valid JSON"),
        ('{"word": "x"}{"word": "y"}', "Extra data"),
        ('\ufeff{"word": "x"}', "BOM"),
        ('{"word": "x"} // note', "Extra data"),
        ('{"word": "x", "word": "y"}', 'the key "word" twice'),
        ('{"word": NaN}', "NaN"),
        ('{"word": 1e400}', "too large"),
        ('{"word": ' + "9" * 5000 + "}", "more than 4000 digits"),
        ('{"word":' + "[" * 100_000, "nested deeper"),
        ('"' + "x" * 5_000_000, "Unterminated string"),
        ("None", "not valid JSON"),
        ("null", "must be a JSON object, not null"),
        ("[]", "must be a JSON object, not a list"),
        ('"{}"', "must be a JSON object, not text"),
        ("5", "must be a JSON object, not a number"),
        ("true", "must be a JSON object, not true or false"),
        ('{"a":"' + "x" * MAX_CHARACTERS + '"}', "longer than"),
        ("\x00", "not valid JSON"),
        ("\ud83d", "not valid JSON"),
    ],
    ids=range(21),
)
def test_what_cannot_be_read_is_said_with_a_bounded_preview(raw, words):
    for tool in (FIND, NOTHING):
        bad = parse(tool, raw)
        assert isinstance(bad, BadArguments)
        assert "notes__find can't be read, so it did not run" in bad.message
        assert re.search(words, bad.message), bad.message
        assert len(bad.message) < 2000
        assert bad.message.isprintable()


@pytest.mark.parametrize("raw", ["", " ", "\n\t"])
def test_empty_text_is_no_arguments_only_for_a_tool_that_needs_none(raw):
    assert parse(NOTHING, raw) == ParsedArguments({}, "{}", False)
    assert parse(get_datetime, raw) == ParsedArguments({}, "{}", False)
    bad = parse(FIND, raw)
    assert isinstance(bad, BadArguments)
    assert "They were empty" in bad.message


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("{}", "word: is missing."),
        ('{"word": ""}', "word: must have at least 1 character, has 0."),
        ('{"word": 5}', "word: must be text, not 5."),
        ('{"word": "a", "limit": 0}', "limit: must be at least 1, not 0."),
        ('{"word": "a", "limit": 5.0}', "limit: must be a whole number, not 5.0."),
        ('{"word": "a", "limit": "5"}', 'limit: must be a whole number, not "5".'),
        ('{"word": "a", "limit": true}', "limit: must be a whole number, not true."),
        ('{"word": "a", "limit": null}', "limit: must be a whole number, not null."),
        ('{"word": "a", "deep": {"b": [1]}}', "deep.b[0]: must be an object, not 1."),
        ('{"limit": 0, "deep": 3}', "deep: must be an object or null, not 3; limit: must be at least 1, not 0; word"),
    ],
)
def test_what_breaks_the_schema_is_named_with_its_place(raw, words):
    bad = parse(FIND, raw)
    assert isinstance(bad, BadArguments)
    assert bad.message.startswith("The arguments of notes__find do not fit, so it did not run: ")
    assert words in bad.message


def test_at_most_three_broken_rules_are_named():
    tool = tool_taking({"type": "object", "properties": {}, "required": ["a", "b", "c", "d", "e"]})
    assert parse(tool, "{}").message.endswith("a: is missing; b: is missing; c: is missing; and more.")


def test_unknown_fields_are_dropped_at_every_level_the_schema_speaks_of():
    raw = '{"word":"a","colour":1,"deep":{"a":{"kept":1},"b":[{"kept":1}],"z":2}}'
    assert parse(FIND, raw).value == {"word": "a", "deep": {"a": {"kept": 1}, "b": [{"kept": 1}]}}
    asked = parse(ask_question, '{"questions":[{"question":"Q","why":1,"options":[{"label":"L","id":7}]}]}')
    assert asked.value == {"questions": [{"question": "Q", "options": [{"label": "L"}]}]}


@pytest.mark.parametrize(
    ("schema", "kept"),
    [
        ({"properties": {"a": {}}}, {"a": 1}),
        ({"properties": {"a": {}}, "additionalProperties": False}, {"a": 1}),
        ({"properties": {"a": {}}, "additionalProperties": True}, {"a": 1, "b": 2}),
        ({"properties": {"a": {}}, "additionalProperties": {"type": "integer"}}, {"a": 1, "b": 2}),
        ({"properties": {"a": {}}, "patternProperties": {"^b": {}}}, {"a": 1, "b": 2}),
        ({"properties": {"a": {}}, "allOf": [{"properties": {"b": {}}}]}, {"a": 1, "b": 2}),
        ({"properties": {"a": {}}, "$ref": "#/$defs/x", "$defs": {"x": {"properties": {"b": {}}}}}, {"a": 1, "b": 2}),
        ({}, {"a": 1, "b": 2}),
    ],
)
def test_a_field_is_unknown_only_where_the_schema_lists_the_fields(schema, kept):
    assert parse(tool_taking({"type": "object", **schema}), '{"b":2,"a":1}').value == kept


def test_a_response_schema_keeps_all_its_fields():
    raw = '{"prompt":"x","response_schema":{"type":"object","x-note":{"y":1}}}'
    assert parse(ask_user, raw).value["response_schema"] == {"type": "object", "x-note": {"y": 1}}


def test_integers_keep_every_digit():
    tool = tool_taking({"type": "object", "properties": {"n": {"type": "integer"}, "f": {"type": "number"}}})
    digits = "1" + "0" * 30 + "1"
    parsed = parse(tool, f'{{"n": {digits}, "f": 1.10}}')
    assert parsed.value == {"n": int(digits), "f": 1.1}
    assert digits in parsed.text
    assert isinstance(parse(tool, '{"n": 1e30}'), BadArguments)


def test_what_cannot_be_stored_is_replaced_visibly_and_flagged():
    parsed = parse(FIND, '{"word": "a\\u0000b\\ud83dc"}')
    assert parsed == ParsedArguments({"word": "a␀b\ufffdc"}, '{"word":"a␀b\ufffdc"}', True)
    deep = parse(FIND, '{"word":"a","deep":{"a":' + "[" * 300 + "]" * 300 + "}}")
    assert deep.sanitised
    assert "nested deeper than 200 levels" in deep.text


def test_a_tool_whose_schema_cannot_be_used_does_not_run():
    bad = parse(tool_taking({"type": "object", "properties": {"a": {"$ref": "http://x.example/"}}}), "{}")
    assert isinstance(bad, BadArguments)
    assert "can't be checked, so it did not run" in bad.message


def test_arguments_that_take_too_long_to_check_do_not_run():
    tool = tool_taking({"type": "object", "properties": {"n": {"items": {"type": "integer"}}}})
    bad = parse(tool, json.dumps({"n": [1] * 200_000}))
    assert isinstance(bad, BadArguments)
    assert "too much work" in bad.message


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
TOOLS = st.sampled_from([FIND, NOTHING, ask_user, ask_question, get_datetime])


def holds(tool, raw):
    result = parse(tool, raw)
    if isinstance(result, BadArguments):
        assert result.message.isprintable()
        assert len(result.message) < 3000
        result.message.encode()
        return
    assert json.loads(result.text) == result.value
    assert canonical(result.value) == result.text
    require_clean(result.value)
    assert parse(tool, result.text) == ParsedArguments(result.value, result.text, False)


@given(TOOLS, st.text(st.characters(codec=None)))
def test_any_text_gives_arguments_or_words(tool, raw):
    holds(tool, raw)


@given(TOOLS, JSON_VALUES, st.integers(0, 30))
def test_any_json_whole_or_cut_gives_arguments_or_words(tool, value, cut):
    raw = json.dumps(value)
    holds(tool, raw)
    holds(tool, raw[: max(0, len(raw) - cut)])


NAMES = st.sampled_from(["word", "limit", "deep", "prompt", "questions", "timezone", "response_schema", "x"])


@given(TOOLS, st.dictionaries(NAMES, JSON_VALUES, max_size=4))
def test_any_fields_give_arguments_or_words(tool, value):
    holds(tool, json.dumps(value))
    holds(tool, json.dumps({**value, "word": "w", "prompt": "p"}))
