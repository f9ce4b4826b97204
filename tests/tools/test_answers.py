"""What a person may answer: text without a schema, what fits with one, and free words to every question."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.tools.answers import (
    MAX_ANSWER,
    check_answer,
    check_schema,
    normalise_question_answer,
    question_key,
)
from workspaces.errors import Invalid, SchemaViolation

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string", "pattern": "^[a-z]+$"}, "age": {"type": "integer", "minimum": 0}},
    "required": ["name"],
}


@pytest.mark.parametrize("text", ["b.txt", " x ", "0", "😀", "x" * 100_000])
def test_without_a_schema_any_text_that_is_not_blank_will_do(text):
    check_answer(None, text)


@pytest.mark.parametrize("response", ["", " ", "\n\t \u3000"])
def test_without_a_schema_a_blank_answer_is_refused(response):
    with pytest.raises(SchemaViolation, match="empty"):
        check_answer(None, response)


@pytest.mark.parametrize("response", [None, 5, True, [], {"response": "x"}, ["x"]])
def test_without_a_schema_only_text_is_an_answer(response):
    with pytest.raises(SchemaViolation, match="must be text, not"):
        check_answer(None, response)


@pytest.mark.parametrize(
    "response", [{"name": "ann"}, {"name": "ann", "age": 5, "more": [1]}, {"name": "a", "age": 5.0}]
)
def test_an_answer_that_fits_its_schema_is_taken(response):
    check_answer(PERSON, response)


def test_an_answer_that_breaks_its_schema_is_refused_with_a_message_per_field():
    with pytest.raises(SchemaViolation) as caught:
        check_answer(PERSON, {"name": "Ann!", "age": -1})
    assert caught.value.message == (
        'The answer does not fit: age: must be at least 0, not -1; name: must match the pattern "^[a-z]+$", not "Ann!".'
    )
    assert caught.value.extra["errors"] == [
        {"path": "age", "message": "must be at least 0, not -1"},
        {"path": "name", "message": 'must match the pattern "^[a-z]+$", not "Ann!"'},
    ]
    assert (caught.value.code, caught.value.status) == ("schema_violation", 422)
    with pytest.raises(SchemaViolation, match="the answer: must be an object, not"):
        check_answer(PERSON, "ann")


def test_an_empty_schema_takes_anything():
    for response in ("", None, 5, []):
        check_answer({}, response)


def test_an_answer_has_bounds():
    with pytest.raises(SchemaViolation, match="too long"):
        check_answer(None, "x" * MAX_ANSWER)
    with pytest.raises(SchemaViolation, match="too long"):
        check_answer({}, ["é" * MAX_ANSWER])
    with pytest.raises(SchemaViolation, match=r"can't be checked.*too much work"):
        check_answer({"items": {"type": "integer"}}, [1] * 100_000)


@pytest.mark.parametrize("response", ["a\x00b", "\ud83d", [float("nan")], {"a\x00": 1}, 10**4001])
def test_what_cannot_be_stored_is_refused_not_changed(response):
    for schema in (None, {}):
        with pytest.raises(Invalid, match="response"):
            check_answer(schema, response)
    with pytest.raises(Invalid, match="response"):
        normalise_question_answer([{"question": "Q"}], response)


def test_a_hostile_pattern_does_not_hang_the_answer():
    with pytest.raises(SchemaViolation, match="must match the pattern"):
        check_answer({"pattern": "^(a+)+$"}, "a" * 5000 + "!")


def test_a_stored_schema_that_cannot_be_used_refuses_in_words():
    with pytest.raises(SchemaViolation, match="can't be checked against the schema of this question"):
        check_answer({"$ref": "http://x.example/"}, "x")


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        (None, "is an object, not null"),
        (True, "is an object, not true"),
        ({"type": "strin"}, "not a JSON Schema: type"),
        ({"pattern": "(?=a)"}, "look-around"),
        ({"$ref": "http://x.example/"}, "leads out"),
        ({"title": "x" * 40_000}, "longer than 32768 bytes"),
        ({"anyOf": [{}] * 600}, "more than 500 parts"),
    ],
)
def test_a_response_schema_that_cannot_be_used_is_refused_in_words(schema, words):
    with pytest.raises(Invalid, match=words):
        check_schema(schema)


def test_a_response_schema_of_any_draft_that_reads_the_same_is_taken():
    check_schema({"$schema": "http://json-schema.org/draft-07/schema#", **PERSON})
    check_schema({})


QUESTIONS = [
    {"question": "Which name?", "header": "Name", "options": [{"label": "a.txt"}, {"label": "b.txt"}]},
    {"question": "Which days?", "header": "Days", "multi_select": True, "options": [{"label": "Mon"}]},
    {"question": "Anything else?"},
]


@pytest.mark.parametrize(
    ("response", "result"),
    [
        ("free words", {"answer": "free words"}),
        ({"answer": "free words"}, {"answer": "free words"}),
        ({"answers": {"Name": "a.txt"}}, {"answers": {"Name": "a.txt"}}),
        ({"answers": {"Name": "none of those"}}, {"answers": {"Name": "none of those"}}),
        ({"answers": {"Which name?": "c"}}, {"answers": {"Which name?": "c"}}),
        (
            {"answers": {"Days": ["Mon", "never"], "Name": "c", "Anything else?": "no"}},
            {"answers": {"Days": ["Mon", "never"], "Name": "c", "Anything else?": "no"}},
        ),
        ({"answers": {"Days": "Mon"}}, {"answers": {"Days": "Mon"}}),
    ],
)
def test_questions_are_answered_by_header_or_text_in_free_words(response, result):
    assert normalise_question_answer(QUESTIONS, response) == result


@pytest.mark.parametrize(
    ("response", "words"),
    [
        (None, "must be text, "),
        (5, "must be text, "),
        ([], "must be text, "),
        ({}, "must be text, "),
        ({"response": "x"}, "must be text, "),
        ({"answer": "x", "answers": {"Name": "x"}}, "must be text, "),
        ("  ", "is empty"),
        ({"answer": ""}, "is empty"),
        ({"answer": ["x"]}, "must be text, not"),
        ({"answers": {}}, "at least one question"),
        ({"answers": "x"}, "at least one question"),
        ({"answers": {"name": "x"}}, 'no question "name". The questions are: "Name", "Days", "Anything else\\?"'),
        ({"answers": {"Name": " "}}, 'to "Name" is empty'),
        ({"answers": {"Name": ["a"]}}, 'to "Name" must be text, not'),
        ({"answers": {"Name": None}}, 'to "Name" must be text, not null'),
        ({"answers": {"Days": []}}, 'to "Days" is empty'),
        ({"answers": {"Days": ["Mon", ""]}}, 'to "Days" is empty'),
        ({"answers": {"Days": ["Mon", 1]}}, 'to "Days" must be text or a list of texts, not 1'),
        ({"answers": {"Name": "a", "Which name?": "b"}}, "answered twice"),
        ({"answer": "x" * MAX_ANSWER}, "too long"),
    ],
    ids=range(20),
)
def test_what_answers_no_question_is_refused_in_words(response, words):
    with pytest.raises(SchemaViolation, match=words):
        normalise_question_answer(QUESTIONS, response)


def test_a_question_without_a_header_is_called_by_its_text():
    assert [question_key(question) for question in QUESTIONS] == ["Name", "Days", "Anything else?"]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda i: st.lists(i) | st.dictionaries(st.sampled_from(["answer", "answers", "Name", "Days"]), i),
        max_leaves=6,
    )
)
def test_any_response_is_taken_or_refused(response):
    for check in (
        lambda: check_answer(None, response),
        lambda: check_answer(PERSON, response),
        lambda: normalise_question_answer(QUESTIONS, response),
    ):
        try:
            check()
        except Invalid as error:
            assert error.message
