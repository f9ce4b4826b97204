"""The toolset `system`: asking, telling, and the time, with the bounds and results of SPEC 5."""

from datetime import UTC, datetime

import pytest

from sessions.contracts import ToolError, YieldRequest
from sessions.tools.arguments import BadArguments, parse
from sessions.tools.system import ask_question, ask_user, get_datetime, inform_user, toolset

from .fakes import FakeContext, ended


def fits(tool, arguments):
    import json

    return not isinstance(parse(tool, json.dumps(arguments)), BadArguments)


def test_what_each_tool_declares():
    declared = {
        tool.name: (tool.effect, tool.on_crash, tool.concurrency_safe, tool.asks_person, tool.requires)
        for tool in toolset.tools
    }
    assert declared == {
        "ask_user": ("read", "rerun", False, True, None),
        "ask_question": ("read", "rerun", False, True, "may_ask_questions"),
        "inform_user": ("write", "rerun", False, False, None),
        "get_datetime": ("read", "rerun", True, False, None),
    }
    assert all(tool.surfaces == {"workspace", "chat"} for tool in toolset.tools)


# -- ask_user ----------------------------------------------------------------------------------------------------


def test_ask_user_asks_and_does_nothing_else():
    context = FakeContext()
    schema = {"type": "string", "enum": ["a", "b"]}
    arguments = {"prompt": "a or b?", "response_schema": schema, "timeout_seconds": 1.5}
    assert ask_user.body(context, arguments) == YieldRequest(
        "ask_user", "question", {"prompt": "a or b?"}, schema, 1.5, None
    )
    assert ask_user.body(context, {"prompt": "Well?"}) == YieldRequest("ask_user", "question", {"prompt": "Well?"})
    assert context.told == []


@pytest.mark.parametrize(
    ("arguments", "fine"),
    [
        ({"prompt": "x"}, True),
        ({"prompt": "x" * 8000}, True),
        ({"prompt": "x" * 8001}, False),
        ({"prompt": ""}, False),
        ({}, False),
        ({"prompt": "x", "timeout_seconds": 0}, False),
        ({"prompt": "x", "timeout_seconds": -1}, False),
        ({"prompt": "x", "timeout_seconds": 0.001}, True),
        ({"prompt": "x", "timeout_seconds": 30 * 86_400}, True),
        ({"prompt": "x", "timeout_seconds": 30 * 86_400 + 1}, False),
        ({"prompt": "x", "timeout_seconds": "60"}, False),
        ({"prompt": "x", "timeout_seconds": None, "response_schema": None}, True),
        ({"prompt": "x", "response_schema": {}}, True),
        ({"prompt": "x", "response_schema": "object"}, False),
        ({"prompt": "x", "response_schema": True}, False),
    ],
)
def test_the_bounds_of_ask_user(arguments, fine):
    assert fits(ask_user, arguments) is fine


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"prompt": " \n"}, "prompt is blank"),
        ({"prompt": "x", "response_schema": {"type": "strin"}}, "response_schema can't be used: .*type must be one of"),
        ({"prompt": "x", "response_schema": {"$ref": "http://x.example/"}}, "leads out of the schema"),
        ({"prompt": "x", "response_schema": {"pattern": r"(a)\1"}}, "back-references"),
    ],
)
def test_a_question_nobody_could_answer_is_an_error_result(arguments, words):
    with pytest.raises(ToolError, match=words):
        ask_user.body(FakeContext(), arguments)


@pytest.mark.parametrize("payload", ["b.txt", {"a": 1}, [], 0, False])
def test_the_answer_is_the_response(payload):
    assert ask_user.settle(ended("answered", payload)) == {"response": payload}


@pytest.mark.parametrize("tool", [ask_user, ask_question])
def test_a_question_that_got_no_answer_says_why(tool):
    assert tool.settle(ended("timed_out")) == {"timed_out": True, "elapsed_seconds": 12.346}
    assert tool.settle(ended("cancelled", reason="not needed", by="Alice")) == {
        "cancelled": True,
        "reason": "not needed",
        "by": "Alice",
        "elapsed_seconds": 12.346,
    }
    with pytest.raises(ToolError, match="ended without an answer"):
        tool.settle(ended("rejected"))


# -- ask_question ------------------------------------------------------------------------------------------------


def question(**fields):
    return {"questions": [{"question": "Which?", **fields}]}


@pytest.mark.parametrize(
    ("arguments", "fine"),
    [
        ({"questions": []}, False),
        ({"questions": [{"question": f"{n}?"} for n in range(4)]}, True),
        ({"questions": [{"question": f"{n}?"} for n in range(5)]}, False),
        ({"questions": "Which?"}, False),
        ({"questions": ["Which?"]}, False),
        ({"questions": [{"header": "x"}]}, False),
        ({"questions": [{"question": ""}]}, False),
        ({"questions": [{"question": "x" * 2000}]}, True),
        ({"questions": [{"question": "x" * 2001}]}, False),
        (question(header="x" * 24), True),
        (question(header="x" * 25), False),
        (question(multi_select=True), True),
        (question(multi_select="yes"), False),
        (question(options=[]), True),
        (question(options=[{"label": "x"}] * 4), True),
        (question(options=[{"label": "x"}] * 5), False),
        (question(options=["x"]), False),
        (question(options=[{"label": "x" * 80, "description": "x" * 400}]), True),
        (question(options=[{"label": "x" * 81}]), False),
        (question(options=[{"label": ""}]), False),
        (question(options=[{"description": "x"}]), False),
        (question(options=[{"label": "x", "description": "x" * 401}]), False),
    ],
)
def test_the_bounds_of_ask_question(arguments, fine):
    assert fits(ask_question, arguments) is fine


def test_ask_question_shows_the_questions_as_they_are():
    asked = question(header="Name", multi_select=True, options=[{"label": "a", "description": "b"}])
    assert ask_question.body(FakeContext(), asked) == YieldRequest("ask_question", "question", asked)


@pytest.mark.parametrize(
    ("questions", "words"),
    [
        ([{"question": " "}], "question is blank"),
        ([{"question": "A?", "header": "x"}, {"question": "B?", "header": "x"}], 'Two questions are called "x"'),
        ([{"question": "A?"}, {"question": "B?", "header": "A?"}], "Two questions are called"),
    ],
)
def test_questions_that_could_be_mixed_up_are_an_error_result(questions, words):
    with pytest.raises(ToolError, match=words):
        ask_question.body(FakeContext(), {"questions": questions})


@pytest.mark.parametrize("payload", [{"answer": "x"}, {"answers": {"Name": ["a", "b"]}}])
def test_the_model_sees_the_answers_as_given(payload):
    assert ask_question.settle(ended("answered", payload)) == payload


def test_the_model_is_told_that_a_question_is_no_permission():
    assert "not for permission to run a tool" in ask_question.description
    assert "any text" in ask_question.description


# -- inform_user -------------------------------------------------------------------------------------------------


def test_inform_user_tells_and_says_how_many_got_it():
    context = FakeContext()
    assert inform_user.body(context, {"message": "Half done."}) == {"delivered_to": 3}
    assert context.told == ["Half done."]


@pytest.mark.parametrize(("length", "fine"), [(0, False), (1, True), (8000, True), (8001, False)])
def test_the_bounds_of_inform_user(length, fine):
    assert fits(inform_user, {"message": "x" * length}) is fine


def test_a_blank_message_is_told_to_nobody():
    context = FakeContext()
    with pytest.raises(ToolError, match="blank"):
        inform_user.body(context, {"message": " \n "})
    assert context.told == []


# -- get_datetime ------------------------------------------------------------------------------------------------


@pytest.fixture
def _frozen(monkeypatch):
    monkeypatch.setattr("workspaces.clock.now", lambda: datetime(2026, 3, 29, 0, 59, 59, 999, UTC))


@pytest.mark.usefixtures("_frozen")
@pytest.mark.parametrize(
    ("arguments", "local", "zone", "weekday"),
    [
        ({}, "2026-03-29T00:59:59+00:00", "UTC", "Sunday"),
        ({"timezone": None}, "2026-03-29T00:59:59+00:00", "UTC", "Sunday"),
        ({"timezone": "Europe/Zurich"}, "2026-03-29T01:59:59+01:00", "Europe/Zurich", "Sunday"),
        ({"timezone": "America/New_York"}, "2026-03-28T20:59:59-04:00", "America/New_York", "Saturday"),
        ({"timezone": "Asia/Kathmandu"}, "2026-03-29T06:44:59+05:45", "Asia/Kathmandu", "Sunday"),
    ],
)
def test_the_time_in_a_zone(arguments, local, zone, weekday):
    assert get_datetime.body(FakeContext(), arguments) == {
        "utc": "2026-03-29T00:59:59Z",
        "local": local,
        "timezone": zone,
        "weekday": weekday,
    }


@pytest.mark.parametrize(
    "name",
    [
        "Mars/Olympus",
        "europe/zurich",
        "../../etc/passwd",
        "/etc/localtime",
        "Europe",
        "Europe/",
        "␀",
        "tzdata.zi",
        "EST5\n",
    ],
)
def test_an_unknown_zone_is_named(name):
    with pytest.raises(ToolError) as caught:
        get_datetime.body(FakeContext(), {"timezone": name})
    assert str(caught.value).startswith("There is no time zone ")
    assert str(caught.value).isprintable()


def test_a_near_zone_is_suggested():
    with pytest.raises(ToolError, match="Did you mean Europe/Zurich"):
        get_datetime.body(FakeContext(), {"timezone": "Europe/Zürich"})
    assert not fits(get_datetime, {"timezone": ""})
    assert not fits(get_datetime, {"timezone": "x" * 65})
