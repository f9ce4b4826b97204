"""Schemas and values that nobody vouches for can't hang, fetch, or slip past the check (case L04)."""

import time

import pytest

from sessions.tools import schemas
from sessions.tools.schemas import UncheckedError, UnusableError, prepared, problems

SECONDS = 5  # of processor time: far above what it takes (about 1 at worst), far below a hang


def check(schema, value):
    return problems(prepared(schema), value)


@pytest.fixture(autouse=True)
def _quick():
    started = time.process_time()
    yield
    assert time.process_time() - started < SECONDS


@pytest.mark.parametrize(
    "pattern", ["^(a+)+$", "(a|aa)+$", "a*a*a*a*a*b", "(a|a?)+c", "(.*a){12}b", "^(([a-z])+.)+[A-Z]$"]
)
def test_a_pattern_takes_linear_time(pattern):
    found, _ = check({"pattern": pattern}, "a" * 5000 + "!")
    assert "must match the pattern" in found[0][1]
    found, _ = check({"patternProperties": {pattern: False}, "additionalProperties": False}, {"a" * 5000 + "!": 1})
    assert found


def test_a_pattern_that_even_linear_time_is_too_long_for_is_given_up():
    with pytest.raises(UncheckedError, match="too much work"):
        check({"pattern": "(.{0,100}a){1,9}[bc]{5,900}$"}, "ab" * 120_000)


@pytest.mark.parametrize("pattern", ["(?=a)b", r"(a)\1", "((a{1,100}){1,100}){1,100}", "(", "a" * 201, "[z-a]"])
def test_a_pattern_that_cannot_be_used_is_named(pattern):
    for schema in ({"pattern": pattern}, {"properties": {"a": {"patternProperties": {pattern: {}}}}}):
        with pytest.raises(UnusableError, match="pattern"):
            prepared(schema)


@pytest.mark.parametrize("place", ["properties", "$defs"])
def test_a_part_that_names_another_draft_gets_no_other_engine(place):
    part = {"$schema": "http://json-schema.org/draft-07/schema#", "$id": "http://x.example/", "pattern": "^(a+)+$"}
    schema = {place: {"a": part}}
    if place == "$defs":
        schema["properties"] = {"a": {"$ref": "#/$defs/a"}}
    assert check(schema, {"a": "a" * 40 + "!"})[0]


@pytest.mark.parametrize(
    "reference",
    [
        "http://127.0.0.1:9/x.json",
        "https://json-schema.org/draft/2020-12/schema",
        "file:///etc/passwd",
        "other",
        "//x/y",
    ],
)
def test_a_reference_out_of_the_schema_is_refused_and_nothing_is_fetched(reference, monkeypatch):
    def fetch(*given, **kept):
        raise AssertionError("something was fetched")

    monkeypatch.setattr("urllib.request.urlopen", fetch)
    monkeypatch.setattr("socket.socket.connect", fetch)
    for schema in ({"$ref": reference}, {"items": {"anyOf": [{"$ref": reference}]}}):
        with pytest.raises(UnusableError, match="leads out of the schema"):
            prepared(schema)


@pytest.mark.parametrize("reference", ["#/nowhere", "#name", "#/allOf/7", "#/allOf/x", "#/title", "#/x-other", "#/%zz"])
def test_a_reference_to_no_schema_is_refused(reference):
    schema = {"allOf": [{}], "title": "x", "x-other": {"$schema": {}}, "properties": {"a": {"$ref": reference}}}
    with pytest.raises(UnusableError, match="leads to no schema"):
        prepared(schema)


def test_references_within_the_schema_work():
    schema = {
        "$defs": {"name": {"type": "string", "minLength": 2}, "tree": {"$anchor": "tree", "items": {"$ref": "#tree"}}},
        "properties": {"a": {"$ref": "#/$defs/name"}, "b": {"$ref": "#tree"}, "c": {"$ref": "#"}},
    }
    assert check(schema, {"a": "xy", "b": [[], [[]]], "c": {"a": "xy"}}) == ([], False)
    assert check(schema, {"c": {"c": {"a": "x"}}})[0] == [("c.c.a", "must have at least 2 characters, has 1")]


def test_a_reference_that_goes_round_for_ever_is_refused():
    for schema in (
        {"$ref": "#"},
        {"anyOf": [{"$ref": "#"}]},
        {"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
    ):
        with pytest.raises(UnusableError, match="round for ever"):
            prepared(schema)
    with pytest.raises(UncheckedError, match="round for ever"):
        check({"properties": {"a": {"allOf": [{"$ref": "#/properties/a"}]}}}, {"a": 1})


def test_references_that_multiply_are_given_up():
    steps = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)}
    steps["d40"] = {"type": "string"}
    with pytest.raises(UnusableError, match="too much work"):
        prepared({"$defs": steps, "$ref": "#/$defs/d0"})
    with pytest.raises(UncheckedError, match="too much work"):
        check({"$defs": steps, "properties": {"a": {"$ref": "#/$defs/d0"}}}, {"a": "x"})


@pytest.mark.parametrize(
    "schema",
    [
        {"anyOf": [{"type": "string"}] * 490},
        {"allOf": [{"items": {}}] * 240},
        {"allOf": [{"uniqueItems": True}] * 400},
        {"allOf": [{"contains": {"const": 1}}] * 200},
        {"items": {"enum": list(range(5000))}},
        {"items": {"oneOf": [{"multipleOf": 0.1}] * 100}},
    ],
    ids=lambda schema: next(iter(schema)),
)
def test_much_schema_times_much_value_ends(schema):
    try:
        check(schema, list(range(50_000)))
    except UncheckedError as error:
        assert "too much work" in str(error)


def test_unlike_lists_are_told_apart_in_linear_time():
    rows = [[n] for n in range(40_000)]
    assert check({"uniqueItems": True}, rows) == ([], False)
    assert check({"uniqueItems": True}, [*rows, [0]])[0] == [("", "must not hold the same item twice")]
    assert check({"uniqueItems": True}, [1, True, "1", None, 0, False, [1], {"a": 1}]) == ([], False)
    assert check({"uniqueItems": True}, [{"a": 1, "b": 2}, {"b": 2, "a": 1.0}])[0]


@pytest.mark.parametrize("value", [10**3999 + 1, -(10**3999), 1e308, 5e-324, 0.3, 2**64])
def test_numbers_of_any_size_are_divided_exactly(value):
    assert check({"multipleOf": 0.1}, 0.3) == ([], False)
    assert check({"multipleOf": 3}, value)[0] or value % 3 == 0
    assert check({"type": "number", "minimum": -1e308, "multipleOf": 1e-300}, value) is not None


@pytest.mark.parametrize("name", ["$dynamicRef", "unevaluatedItems", "unevaluatedProperties"])
def test_what_is_not_supported_is_refused_by_name(name):
    with pytest.raises(UnusableError, match=f"{name[1:]} is not supported"):
        prepared({"items": {name: "#" if name[0] == "$" else False}})


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        (None, "is an object, not null"),
        ([], "is an object, not"),
        ("object", "is an object, not"),
        ({"type": "strin"}, 'type must be one of .*, not "strin"'),
        ({"properties": {"a": {"minLength": "x"}}}, 'properties.a.minLength must be a whole number, not "x"'),
        ({"properties": [1]}, "properties must be an object"),
        ({"required": "a"}, "required must be a list"),
        ({"items": 5}, "items must be"),
        ({"minimum": float("nan")}, "not JSON"),
        ({1: 2, "a": 3}, "not JSON"),
        ({"title": "x" * 300_000}, "longer than 262144 bytes"),
        ({"allOf": [{}] * 6000}, "more than 5000 parts"),
    ],
)
def test_what_is_no_schema_is_refused_in_words(schema, words):
    with pytest.raises(UnusableError, match=words):
        prepared(schema)


def test_a_schema_nested_too_deep_is_refused_and_a_deep_value_is_checked():
    schema: dict = {}
    for _ in range(60):
        schema = {"items": schema}
    with pytest.raises(UnusableError, match="nested deeper than 40"):
        prepared(schema)
    value: list = []
    for _ in range(199):
        value = [value]
    try:
        assert check({"items": {"$ref": "#"}}, value) == ([], False)
    except UncheckedError as error:
        assert "nested too deep" in str(error)


def test_each_broken_rule_has_its_own_words():
    for schema, value, words in [
        ({"type": ["string", "null"]}, 5, "must be text or null, not 5"),
        ({"type": "integer"}, 1.5, "must be a whole number, not 1.5"),
        ({"type": "integer"}, True, "must be a whole number, not true"),
        ({"enum": ["a", 1]}, "b", 'must be one of "a", 1, not "b"'),
        ({"const": "a"}, "b", 'must be "a", not "b"'),
        ({"minLength": 2}, "a", "must have at least 2 characters, has 1"),
        ({"maxItems": 1}, [1, 2], "must have at most 1 item, has 2"),
        ({"minProperties": 1}, {}, "must have at least 1 field, has 0"),
        ({"minimum": 3}, 1, "must be at least 3, not 1"),
        ({"maximum": 3}, 4, "must be at most 3, not 4"),
        ({"exclusiveMinimum": 3}, 3, "must be above 3, not 3"),
        ({"exclusiveMaximum": 3}, 3, "must be below 3, not 3"),
        ({"multipleOf": 2}, 3, "must be a multiple of 2, not 3"),
        ({"not": {"type": "string"}}, "a", 'does not fit "not": {"type": "string"}'),
        (
            {"anyOf": [{"type": "null"}, {"type": "string", "minLength": 2}]},
            "a",
            "must have at least 2 characters, has 1",
        ),
        ({"anyOf": [{"type": "null"}, {"type": "string"}]}, 5, "must be null or text, not 5"),
        ({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, {}, "fits none of the 2 allowed forms: {}"),
        (False, 5, "is not allowed"),
    ]:
        assert check(schema, value)[0] == [("", words)], schema


def test_the_place_leads_to_the_field():
    schema = {
        "type": "object",
        "properties": {"rows": {"items": {"required": ["name"], "properties": {"n": {"type": "integer"}}}}},
        "additionalProperties": False,
    }
    found, more = check(schema, {"rows": [{"name": 1}, {"n": "x"}], "odd key\n": 1})
    assert found == [
        ('["odd key\\n"]', "is not a known field"),
        ("rows[1].n", 'must be a whole number, not "x"'),
        ("rows[1].name", "is missing"),
    ]
    assert not more


def test_words_are_bounded_and_show_what_hides():
    found, _ = check(
        {"properties": {"a": {"maxLength": 3, "type": "integer"}}}, {"a": "\u202e\x1b]8;;\n" + "x" * 100_000}
    )
    text = "; ".join(words for _, words in found)
    assert len(text) < 400
    assert text.isprintable()
    assert "\\u202e" in text


def test_only_the_first_rules_are_named():
    schema = {"required": ["a", "b", "c", "d"]}
    assert check(schema, {}) == ([("a", "is missing"), ("b", "is missing"), ("c", "is missing")], True)


def test_the_budget_is_per_check():
    text = prepared({"items": {"type": "integer"}})
    for _ in range(5):
        assert problems(text, list(range(20_000))) == ([], False)
    assert schemas.BUDGET < 5 * 20_000 * 2
