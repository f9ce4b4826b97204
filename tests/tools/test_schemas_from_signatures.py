"""A tool's schema is its function's signature and docstring; what can't be said is refused at import."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest
from annotated_types import Ge, Gt, Le, Lt, MaxLen, MinLen

from sessions.contracts import ToolContext
from sessions.tools.base import tool
from sessions.tools.signatures import docstring, schema_of

from .fakes import FakeContext


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Point(TypedDict):
    x: Annotated[float, "Where."]
    label: NotRequired[str]


@dataclass
class Span:
    first: int
    last: Annotated[int, Ge(0)] = 9
    colours: list[Colour] = field(default_factory=list)


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (Any, {}),
        (list, {"type": "array"}),
        (dict, {"type": "object"}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (dict[str, Any], {"type": "object"}),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (str | None, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Literal[1, "b", None], {"enum": [1, "b", None]}),
        (Colour, {"type": "string", "enum": ["red", "blue"]}),
        (Annotated[str, MinLen(1), MaxLen(5)], {"type": "string", "minLength": 1, "maxLength": 5}),
        (Annotated[list[str], MinLen(1), MaxLen(4)], {**schema_of(list[str])[0], "minItems": 1, "maxItems": 4}),
        (Annotated[int, Ge(0), Lt(9)], {"type": "integer", "minimum": 0, "exclusiveMaximum": 9}),
        (Annotated[float, Gt(0), Le(9)], {"type": "number", "exclusiveMinimum": 0, "maximum": 9}),
        (Annotated[str, "Why."], {"type": "string", "description": "Why."}),
        (
            Point,
            {
                "type": "object",
                "properties": {"x": {"type": "number", "description": "Where."}, "label": {"type": "string"}},
                "required": ["x"],
            },
        ),
        (
            Span,
            {
                "type": "object",
                "properties": {
                    "first": {"type": "integer"},
                    "last": {"type": "integer", "minimum": 0, "default": 9},
                    "colours": {"type": "array", "items": {"type": "string", "enum": ["red", "blue"]}},
                },
                "required": ["first"],
            },
        ),
    ],
    ids=str,
)
def test_an_annotation_says_what_json_may_come(annotation, schema):
    assert schema_of(annotation)[0] == schema


@pytest.mark.parametrize(
    "annotation", [object, set[str], bytes, dict[int, str], tuple[int, str], Literal[1.5], Colour | str | None], ids=str
)
def test_what_json_schema_cannot_say_is_refused(annotation):
    with pytest.raises(TypeError):
        schema_of(annotation)


def test_a_bound_that_does_not_suit_its_type_is_refused():
    with pytest.raises(TypeError, match="does not suit"):
        schema_of(Annotated[int, MaxLen(3)])


def paint(
    context: ToolContext,
    spans: list[Span],
    colour: Colour,
    by_name: dict[str, Colour],
    other: Colour | None = None,
    places: list[Point] | None = None,
    times: int = 2,
) -> Any:
    """Paint
    spans.

    It takes a while.

    Args:
        spans: Which spans: from the first
            to the last.
        colour: In which colour.
        by_name: Other colours.
        other: Another colour.
        places: Where.
    times: How often.
    """
    return context, spans, colour, by_name, other, places, times


def test_the_first_paragraph_describes_the_tool_and_lines_below_describe_parameters():
    made = tool("art", effect="destructive", on_crash="cancelled", concurrency_safe=True, requires="paint")(paint)
    assert (made.full_name, made.description) == ("art__paint", "Paint spans.")
    assert made.parameters["required"] == ["spans", "colour", "by_name"]
    texts = {name: schema["description"] for name, schema in made.parameters["properties"].items()}
    assert texts["spans"] == "Which spans: from the first to the last."
    assert texts["times"] == "How often."
    assert made.parameters["properties"]["times"]["default"] == 2
    assert (made.effect, made.on_crash, made.concurrency_safe, made.requires) == (
        "destructive",
        "cancelled",
        True,
        "paint",
    )


def test_a_tool_that_declares_nothing_is_a_write_of_unknown_outcome_and_runs_alone():
    made = tool("art")(paint)
    assert (made.effect, made.on_crash, made.concurrency_safe) == ("write", "unknown", False)
    assert made.surfaces == {"workspace", "chat"}
    assert not made.asks_person


def test_the_function_gets_the_python_values_it_declares_and_its_own_defaults():
    context = FakeContext()
    given = {
        "spans": [{"first": 1, "colours": ["blue"], "unheard": 1}],
        "colour": "red",
        "by_name": {"sky": "blue"},
        "places": [{"x": 1}],
        "unheard": True,
    }
    got = tool("art")(paint).body(context, given)
    spans = [Span(1, 9, [Colour.BLUE])]
    assert got == (context, spans, Colour.RED, {"sky": Colour.BLUE}, None, [{"x": 1}], 2)


def test_integers_stay_exact():
    def keep(context: ToolContext, number: int) -> int:
        """Keep.

        number: It.
        """
        return number

    assert tool("art")(keep).body(FakeContext(), {"number": 10**30 + 1}) == 10**30 + 1


def test_what_a_model_could_not_be_told_is_refused_at_import():
    def silent(context: ToolContext) -> None: ...

    def untyped(context: ToolContext, word):
        """Do."""

    def unsaid(context: ToolContext, word: str) -> None:
        """Do."""

    def loose(context: ToolContext, *words: str) -> None:
        """Do."""

    def odd(context: ToolContext, word: set[str]) -> None:
        """Do.

        word: It.
        """

    def mistaken(context: ToolContext, word: str) -> None:
        """Do.

        Args:
            word: It.
            wrod: It again.
        """

    def mutable(context: ToolContext, words: list[str] = []) -> None:  # noqa: B006
        """Do.

        words: They.
        """

    expected = {
        silent: "there is none",
        untyped: "word has no annotation",
        unsaid: "word has no description",
        loose: "variable number",
        odd: "word: .*JSON Schema",
        mistaken: "wrod, which is no parameter",
        mutable: "plain JSON value",
    }
    for function, words in expected.items():
        with pytest.raises(TypeError, match=f"{function.__name__}.*{words}"):
            tool("art")(function)


def test_sections_that_are_not_of_parameters_describe_nothing():
    text = "Do.\n\nArgs:\n    word: It.\n\nReturns:\n    word and more.\n\nNote that word: is short.\n"
    assert docstring(text, ["word"]) == ("Do.", {"word": "It."})
