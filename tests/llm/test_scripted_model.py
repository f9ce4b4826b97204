"""The scripted model of SPEC 14: a list, one entry per model call, through the code of every provider."""

import json
from typing import Any

import pytest

from sessions.contracts import (
    ModelReply,
    ModelRequest,
    ProviderConfig,
    ProviderError,
    TranscriptCall,
    TranscriptMessage,
)
from sessions.llm.request import request
from sessions.llm.scripted import MAX_ENTRIES, validate_script
from workspaces.errors import Invalid

ASK = {"say": "One question.", "calls": [{"tool": "system__ask_user", "arguments": {"prompt": "A or B?"}}]}


def play(script: list[Any], *messages: TranscriptMessage) -> ModelReply:
    provider = ProviderConfig("scripted")
    opening = TranscriptMessage("user", "Go.")
    return request(ModelRequest(provider, "any", "Be brief.", (opening, *messages), script=tuple(script)))


def turn(*results: str) -> TranscriptMessage:
    """An assistant message whose calls had these results."""
    calls = (TranscriptCall(f"id-{number}", "a__b", "{}", result) for number, result in enumerate(results))
    return TranscriptMessage("assistant", "Hm.", tuple(calls))


def arguments(reply: ModelReply) -> list[Any]:
    return [json.loads(call.arguments) for call in reply.calls]


def test_each_model_call_plays_the_next_entry() -> None:
    script = [ASK, {"say": "You said {{ result }}."}]
    first = play(script)
    assert (first.text, first.calls[0].tool, arguments(first)) == (
        "One question.",
        "system__ask_user",
        [{"prompt": "A or B?"}],
    )
    assert play(script, turn("B")).text == "You said B."


def test_asking_again_plays_the_same_entry_with_the_same_ids() -> None:
    assert play([ASK]) == play([ASK])


def test_a_users_message_in_between_does_not_move_it() -> None:
    script = [ASK, {"say": "Second."}]
    assert play(script, turn("B"), TranscriptMessage("user", "And quickly.")).text == "Second."


def test_the_last_result_stands_in_texts_at_any_depth_of_the_arguments() -> None:
    entry = {
        "calls": [
            {"tool": "w__w", "arguments": {"path": "{{ result }}.md", "n": 5, "deep": [{"x": "<{{ result }}>"}, True]}}
        ]
    }
    reply = play([ASK, entry], turn("first", 'a "b"\n'))
    assert arguments(reply) == [{"path": 'a "b"\n.md', "n": 5, "deep": [{"x": '<a "b"\n>'}, True]}]


def test_a_json_results_members_can_be_named() -> None:
    script = [
        ASK,
        {"say": "{{ result.response }} / {{ result.list[1] }} / {{ result.no|default('none') }} / {{ result }}"},
    ]
    assert play(script, turn('{"response":"b.txt","list":[1,2]}')).text == (
        'b.txt / 2 / none / {"response":"b.txt","list":[1,2]}'
    )


def test_a_condition_may_choose() -> None:
    script = [ASK, {"say": "{% if result == 'B' %}Good{% else %}Bad{% endif %}"}]
    assert play(script, turn("B")).text == "Good"
    assert play(script, turn("A")).text == "Bad"


def test_after_the_last_entry_it_says_the_last_result() -> None:
    assert play([ASK], turn("one", "two")).text == "two"
    assert play([ASK], turn("one"), TranscriptMessage("assistant", "x"), TranscriptMessage("user", "?")).text == "one"


@pytest.mark.parametrize("messages", [(), (turn(""),), (turn(" \n"),)])
def test_with_no_result_to_say_it_still_says_something(messages: tuple[TranscriptMessage, ...]) -> None:
    assert play([], *messages).text == "The script has ended."


def test_many_calls_of_one_entry_keep_their_order_and_have_their_own_ids() -> None:
    calls = [{"tool": "a__b", "arguments": {"n": number}} for number in range(20)]
    reply = play([{"say": "", "calls": calls}])
    assert [value["n"] for value in arguments(reply)] == list(range(20))
    assert len({call.provider_id for call in reply.calls}) == 20


def test_text_that_is_no_template_is_played_as_it_stands() -> None:
    assert play([{"say": "100 % {of} }} # it\r\n"}]).text == "100 % {of} }} # it\r\n"


def test_an_entry_that_says_and_calls_nothing_is_an_empty_reply() -> None:
    with pytest.raises(ProviderError) as caught:
        play([{}])
    assert caught.value.failure == "empty_reply"


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({"say": "{{ result }}"}, "Entry 1 of the script: it uses the last result, but no tool has been called yet."),
        ({"calls": [{"tool": 7}]}, "Entry 1 of the script: `tool` must be the tool's name."),
        ({"say": "{{ 9 ** 9 }}"}, "Entry 1 of the script: a template must not use pow: only values and conditions."),
    ],
)
def test_an_entry_that_cannot_be_played_is_said_to_be_invalid(entry: Any, why: str) -> None:
    with pytest.raises(ProviderError) as caught:
        play([entry])
    assert (caught.value.failure, caught.value.retryable, caught.value.message) == ("script_invalid", False, why)


def test_a_member_the_result_does_not_have_is_said_to_be_missing() -> None:
    for template in ("{{ result.response }}", "{{ result.upper }}", "{{ result.__class__ }}"):
        with pytest.raises(ProviderError) as caught:
            play([ASK, {"say": template}], turn("plain"))
        assert (
            caught.value.message == "Entry 2 of the script: the last result has no such member as the template names."
        )


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("say", "must be a list"),
        ({"say": "x"}, "must be a list"),
        (None, "must be a list"),
        ([{}] * (MAX_ENTRIES + 1), "at most 1,000 entries"),
        ([{"say": "x" * 600_000}, {"say": "y" * 600_000}], "at most 1 MiB"),
        ([ASK, "say"], "Entry 2 of the script: an entry must be an object."),
        ([{"says": "x"}], "Entry 1 of the script: an entry has no field 'says'; it may have calls and say."),
        ([{"say": 5}], "`say` must be text"),
        ([{"say": "a\x00"}], "NUL"),
        ([{"calls": {"tool": "x"}}], "`calls` must be a list"),
        ([{"calls": ["x"]}], "a call must be an object"),
        ([{"calls": [{"tool": "a__b", "arguments": {}}] * 129}], "at most 128 calls"),
        ([{"calls": [{"arguments": {}}]}], "`tool` must be the tool's name"),
        ([{"calls": [{"tool": 5, "arguments": {}}]}], "`tool` must be the tool's name"),
        ([{"calls": [{"tool": "a__b", "arguments": "{}"}]}], "the `arguments` of 'a__b' must be an object"),
        ([{"calls": [{"tool": "a__b", "arguments": []}]}], "the `arguments` of 'a__b' must be an object"),
        ([{"calls": [{"tool": "a__b", "args": {}}]}], "a call has no field 'args'"),
        ([ASK, ASK, {"say": "{{ result"}], "Entry 3 of the script: the template can't be read"),
        ([{"calls": [{"tool": "a__b", "arguments": {"x": [{"y": "{{ answer }}"}]}}]}], "names 'answer'"),
        ([{"say": "{% for a in result %}{% endfor %}"}], "must not use for"),
        ([{"say": "{{ result * 1000000000 }}"}], "must not use mul"),
        ([{"say": "{{ result.__class__() }}"}], "must not use call"),
        ([{"say": "{{ result|center(1000000000) }}"}], "the template's filter 'center' is not known here"),
        ([{"say": "{{ result|tojson(1000000000) }}"}], "takes no arguments"),
        ([{"say": "{% set a = result ~ result %}"}], "must not use assign"),
        ([{"say": "{% include 'x' %}"}], "must not use include"),
        ([{"say": "{{ " + "(" * 5000}], "the template can't be read"),
    ],
)
def test_a_script_that_is_not_valid_is_refused_with_the_entry_and_the_reason(script: Any, why: str) -> None:
    with pytest.raises(Invalid) as caught:
        validate_script(script)
    assert why in caught.value.message


@pytest.mark.parametrize(
    "script",
    [
        [],
        [{}],
        [ASK],
        [{"say": None, "calls": None}],
        [{"calls": [{"tool": "any name", "arguments": {}}]}],
        [{}] * 1000,
        (ASK,),
    ],
)
def test_a_valid_script_is_taken(script: Any) -> None:
    validate_script(script)
