"""The strict servers are strict: every wrong request is refused and named, a right one is not, streamed or whole."""

import copy
import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from tests.strict import Call, Reply, StrictAnthropic, StrictOpenAI, Thinking, anthropic_rules, openai_rules
from tests.strict.openai_server import pieces
from tests.strict.server import Refused, StrictServer

CALL = {"id": "c1", "type": "function", "function": {"name": "a__b", "arguments": "{}"}}
SECOND = {**CALL, "id": "c2"}
TOOL = {"type": "function", "function": {"name": "a__b", "parameters": {"type": "object", "properties": {}}}}
OPENAI: dict[str, Any] = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "u"},
        {"role": "assistant", "content": None, "tool_calls": [CALL, SECOND]},
        {"role": "tool", "tool_call_id": "c1", "content": "r"},
        {"role": "tool", "tool_call_id": "c2", "content": "r"},
        {"role": "assistant", "content": "a"},
        {"role": "user", "content": "u"},
    ],
    "tools": [TOOL],
}
USE = {"type": "tool_use", "id": "c1", "name": "a__b", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "c1", "content": "r"}
ANTHROPIC: dict[str, Any] = {
    "model": "m",
    "max_tokens": 10,
    "system": "s",
    "messages": [
        {"role": "user", "content": "u"},
        {"role": "assistant", "content": [{"type": "text", "text": "t"}, USE, {**USE, "id": "c2"}]},
        {"role": "user", "content": [RESULT, {**RESULT, "tool_use_id": "c2"}, {"type": "text", "text": "u"}]},
    ],
    "tools": [{"name": "a__b", "input_schema": {"type": "object", "properties": {}}}],
}


def changed(body: dict[str, Any], *path: Any, to: Any) -> dict[str, Any]:
    body = copy.deepcopy(body)
    place = body
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return body


def without(body: dict[str, Any], *numbers: int) -> dict[str, Any]:
    return {**body, "messages": [one for number, one in enumerate(body["messages"]) if number not in numbers]}


def swapped(body: dict[str, Any], one: int, other: int) -> dict[str, Any]:
    messages = list(body["messages"])
    messages[one], messages[other] = messages[other], messages[one]
    return {**body, "messages": messages}


@pytest.mark.parametrize(
    "body",
    [
        changed(OPENAI, "model", to=""),
        changed(OPENAI, "messages", to=[]),
        without(OPENAI, 3),
        without(OPENAI, 3, 4),
        without(OPENAI, 3, 4, 5, 6),
        without(OPENAI, 2),
        swapped(OPENAI, 3, 4),
        swapped(OPENAI, 4, 5),
        swapped(OPENAI, 0, 1),
        without(OPENAI, 1, 2, 3, 4, 5, 6),
        changed(OPENAI, "messages", 1, "content", to=""),
        changed(OPENAI, "messages", 1, "content", to=None),
        changed(OPENAI, "messages", 1, "content", to=[]),
        changed(OPENAI, "messages", 1, "content", to=[{"type": "text", "text": " "}]),
        changed(OPENAI, "messages", 1, "content", to="\ud83d"),
        changed(OPENAI, "messages", 1, "role", to="human"),
        changed(OPENAI, "messages", 2, "content", to=""),
        changed(OPENAI, "messages", 2, "tool_calls", to=[]),
        changed(OPENAI, "messages", 2, "tool_calls", 1, "id", to="c1"),
        changed(OPENAI, "messages", 2, "tool_calls", 0, "id", to=""),
        changed(OPENAI, "messages", 2, "tool_calls", 0, "id", to="i" * 41),
        changed(OPENAI, "messages", 2, "tool_calls", 0, "function", to={"name": "a b", "arguments": "{}"}),
        changed(OPENAI, "messages", 2, "tool_calls", 0, "function", to={"name": "a", "arguments": "{"}),
        changed(OPENAI, "messages", 2, "tool_calls", 0, "function", to={"name": "a", "arguments": "[]"}),
        changed(OPENAI, "messages", 3, "content", to=""),
        changed(OPENAI, "messages", 4, "tool_call_id", to="c1"),
        changed(OPENAI, "messages", 5, "content", to=None),
        changed(OPENAI, "tools", to=[]),
        changed(OPENAI, "tools", to=[TOOL, TOOL]),
        changed(OPENAI, "tools", 0, "function", "name", to="a b"),
        changed(OPENAI, "tools", 0, "function", "description", to="d" * 1025),
        changed(OPENAI, "tools", 0, "function", "parameters", to={"type": "array"}),
        changed(OPENAI, "tools", 0, "function", "parameters", to={"type": "object"}),
        changed(OPENAI, "tools", 0, "function", "parameters", to={"type": "object", "properties": {"a": {"type": 5}}}),
        changed(OPENAI, "stream_options", to={"include_usage": True}),
    ],
)
def test_what_openai_refuses_is_refused(body: dict[str, Any]) -> None:
    openai_rules.check(OPENAI)
    with pytest.raises(Refused) as caught:
        openai_rules.check(body)
    assert str(caught.value)


@pytest.mark.parametrize(
    "body",
    [
        changed(ANTHROPIC, "model", to=None),
        changed(ANTHROPIC, "max_tokens", to=0),
        changed(ANTHROPIC, "system", to=""),
        changed(ANTHROPIC, "system", to=[{"type": "text", "text": " "}]),
        changed(ANTHROPIC, "messages", to=[]),
        without(ANTHROPIC, 0),
        without(ANTHROPIC, 1),
        without(ANTHROPIC, 2),
        swapped(ANTHROPIC, 0, 1),
        swapped(ANTHROPIC, 0, 2),
        changed(ANTHROPIC, "messages", 0, "role", to="system"),
        changed(ANTHROPIC, "messages", 0, "content", to=""),
        changed(ANTHROPIC, "messages", 0, "content", to=[]),
        changed(ANTHROPIC, "messages", 1, "content", 0, "text", to=""),
        changed(ANTHROPIC, "messages", 1, "content", 0, "text", to="\n"),
        changed(
            ANTHROPIC, "messages", 1, "content", 0, to={"type": "thinking", "thinking": "t", "signature": "forged"}
        ),
        changed(ANTHROPIC, "messages", 1, "content", 1, "id", to="c2"),
        changed(ANTHROPIC, "messages", 1, "content", 1, "id", to="c 1"),
        changed(ANTHROPIC, "messages", 1, "content", 1, "name", to="a b"),
        changed(ANTHROPIC, "messages", 1, "content", 1, "input", to="{}"),
        changed(ANTHROPIC, "messages", 1, "content", to=[{"type": "text", "text": "t"}]),
        changed(ANTHROPIC, "messages", 2, "content", to=[RESULT]),
        changed(ANTHROPIC, "messages", 2, "content", to="no results"),
        changed(ANTHROPIC, "messages", 2, "content", 1, "tool_use_id", to="c1"),
        changed(ANTHROPIC, "messages", 2, "content", 1, "tool_use_id", to="c9"),
        changed(ANTHROPIC, "messages", 2, "content", 0, to={"type": "text", "text": "before the result"}),
        changed(ANTHROPIC, "messages", 2, "content", 0, "content", to=[{"type": "text", "text": ""}]),
        changed(ANTHROPIC, "messages", 2, "content", 0, "content", to=""),
        changed(ANTHROPIC, "messages", 2, "content", to=[{**RESULT, "tool_use_id": "c2"}, RESULT]),
        {**ANTHROPIC, "messages": [*ANTHROPIC["messages"], {"role": "assistant", "content": "prefill"}]},
        {key: value for key, value in ANTHROPIC.items() if key != "tools"},
        changed(ANTHROPIC, "tools", to=ANTHROPIC["tools"] * 2),
        changed(ANTHROPIC, "tools", 0, "name", to="a.b"),
        changed(ANTHROPIC, "tools", 0, "input_schema", to={"properties": {}}),
    ],
)
def test_what_anthropic_refuses_is_refused(body: dict[str, Any]) -> None:
    anthropic_rules.check(ANTHROPIC)
    with pytest.raises(Refused) as caught:
        anthropic_rules.check(body)
    assert str(caught.value)


def post(server: StrictServer, body: dict[str, Any], key: str | None = None) -> tuple[int, str]:
    """The status and the body of the answer, by the plainest client there is."""
    headers = {
        "content-type": "application/json",
        "authorization": f"Bearer {key or server.api_key}",
        "anthropic-version": "2023-06-01",
    }
    http = urllib.request.Request(
        f"http://127.0.0.1:{server.port}{server.path}", json.dumps(body).encode(), headers, method="POST"
    )
    try:
        with urllib.request.urlopen(http, timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@pytest.mark.parametrize(("kind", "body"), [(StrictOpenAI, OPENAI), (StrictAnthropic, ANTHROPIC)])
def test_a_refusal_is_a_400_that_names_it_and_fails_the_test(kind: type[StrictServer], body: dict[str, Any]) -> None:
    with pytest.raises(AssertionError, match="refused by the strict provider"), kind(["never"]) as server:
        status, answer = post(server, changed(body, "messages", to=[]))
        assert status == 400
        assert server.refusals[0] in answer
    with kind(["never"]) as server:
        assert post(server, body, key="wrong")[0] == 401
        assert (server.unauthorised, server.requests) == (1, [])


@pytest.mark.parametrize(("kind", "body"), [(StrictOpenAI, OPENAI), (StrictAnthropic, ANTHROPIC)])
def test_whole_and_streamed_answers_say_the_same(kind: type[StrictServer], body: dict[str, Any]) -> None:
    reply = Reply(blocks=[Thinking("Hm."), "Some text of more than one chunk.", Call("a__b", {"n": 1}, "x")])
    with kind(lambda messages: reply) as server:
        whole = post(server, body)[1]
        streamed = post(server, {**body, "stream": True})[1]
        assert server.bodies == [body, {**body, "stream": True}]
    assert "Some text of more than one chunk." in whole
    assert '"n"' in whole.replace("\\", "")
    assert all(piece in streamed for piece in pieces("Some text of more than one chunk."))
    assert streamed.endswith("data: [DONE]\n\n" if kind is StrictOpenAI else '"message_stop"}\n\n')


def test_the_items_of_a_script_may_be_texts_entries_of_the_scripted_model_or_made_from_the_messages() -> None:
    entry = {"say": "Hm.", "calls": [{"tool": "a__b", "arguments": {"n": 1}}]}
    with StrictOpenAI(["Text.", entry]) as server:
        answers = [json.loads(post(server, OPENAI)[1])["choices"][0]["message"] for _ in range(3)]
    assert [answer["content"] for answer in answers] == ["Text.", "Hm.", "The script of the server has ended."]
    assert answers[1]["tool_calls"][0]["function"] == {"name": "a__b", "arguments": '{"n": 1}'}
    with StrictOpenAI(lambda messages: f"{len(messages)} messages") as server:
        assert "7 messages" in post(server, OPENAI)[1]
