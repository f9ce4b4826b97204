"""What the model said is what we get and send back: text, calls, their order, raw arguments, reasoning."""

import json
from dataclasses import replace

import pytest
from pydantic_ai.messages import ModelResponse

from sessions.contracts import ToolSpec, TranscriptCall, TranscriptMessage
from sessions.llm import reply as replies
from tests.llm.asking import ANTHROPIC, HELLO, OPENAI, Vendor, answered
from tests.strict import Call, Reply, Thinking

BROKEN = [
    '{"prompt": "Wh',
    '{"prompt": "a",}',
    "{'prompt': 'a'}",
    '{"a":1}{"b":2}',
    "\ufeff{}",
    "{} // no",
    "null",
    "[1]",
    "7",
]


def test_a_text_comes_through_with_the_models_name_and_the_tokens(vendor: Vendor) -> None:
    with vendor.server(["Hello, wörld 👋 and more than one chunk."]) as server:
        reply = vendor.ask(server)
    assert reply.text == "Hello, wörld 👋 and more than one chunk."
    assert (reply.calls, reply.model, reply.extra) == ((), vendor.model, None)
    assert (reply.input_tokens, reply.output_tokens) == (11, 7)


def test_characters_split_over_reads_are_joined(vendor: Vendor) -> None:
    text = "дверь 門 👩‍👩‍👧 ready"
    with vendor.server([Reply(text, [Call("system__ask_user", {"prompt": text})])]) as server:
        server.chunk_bytes = 1
        reply = vendor.ask(server)
    assert reply.text == text
    assert json.loads(reply.calls[0].arguments) == {"prompt": text}


def test_text_beside_two_calls_loses_neither(vendor: Vendor) -> None:
    said = Reply("I'll check.", [Call("system__ask_user", {"prompt": "A?"}), Call("x__y", {"b": [1, 2.50]})])
    with vendor.server([said]) as server:
        reply = vendor.ask(server)
    assert reply.text == "I'll check."
    assert [(call.tool, call.arguments) for call in reply.calls] == [
        ("system__ask_user", '{"prompt": "A?"}'),
        ("x__y", '{"b": [1, 2.5]}'),
    ]


def test_the_digits_of_a_number_stay_as_the_model_wrote_them(vendor: Vendor) -> None:
    with vendor.server([Reply(calls=[Call("a__b", '{"amount": 1.10, "big": 12345678901234567890123}')])]) as server:
        assert vendor.ask(server).calls[0].arguments == '{"amount": 1.10, "big": 12345678901234567890123}'


@pytest.mark.parametrize("raw", BROKEN)
def test_broken_arguments_come_through_untouched_and_can_be_sent_back(vendor: Vendor, raw: str) -> None:
    calls = [Call("a__b", {"n": 1}), Call("a__b", raw), Call("a__b", {"n": 3})]
    with vendor.server([Reply(calls=calls), "Sorry."]) as server:
        reply = vendor.ask(server)
        assert [call.arguments for call in reply.calls] == ['{"n": 1}', raw, '{"n": 3}']
        vendor.ask(server, (*HELLO, answered(reply, "1", "not JSON", "3")))


def test_five_megabytes_of_broken_arguments_are_shown_to_the_model_shortened() -> None:
    with OPENAI.server(["Sorry."]) as server:
        call = TranscriptCall("0192aaaa-0000-7000-8000-000000000001", "a__b", '{"a": "' + "x" * 5_000_000, "?", False)
        OPENAI.ask(server, (*HELLO, TranscriptMessage("assistant", "", (call,))))
        sent = json.loads(server.bodies[0]["messages"][2]["tool_calls"][0]["function"]["arguments"])
    assert len(sent["INVALID_JSON"]) < 2100
    assert sent["INVALID_JSON"].endswith("(5000007 characters in all)")


@pytest.mark.parametrize("call_id", ["x", "", "i" * 500, "two words\n"])
def test_the_same_id_twice_or_a_strange_one_is_data_and_never_goes_out_again(vendor: Vendor, call_id: str) -> None:
    calls = [Call("a__b", {"n": 1}, call_id), Call("a__b", {"n": 2}, call_id)]
    with vendor.server([Reply(calls=calls), Reply(calls=calls), "Done."]) as server:
        first = vendor.ask(server)
        assert [call.arguments for call in first.calls] == ['{"n": 1}', '{"n": 2}']
        if call_id:
            assert [call.provider_id for call in first.calls] == [call_id, call_id]
        history = (*HELLO, answered(first, "1", "2"))
        second = answered(vendor.ask(server, history), "1", "2")
        second = replace(second, calls=tuple(replace(call, id=f"{call.id}-2") for call in second.calls))
        assert vendor.ask(server, (*history, second)).text == "Done."


def test_a_call_without_arguments_is_an_empty_object_only_where_the_vendor_said_so() -> None:
    with ANTHROPIC.server([Reply(calls=[Call("a__b", {})])]) as server:
        assert ANTHROPIC.ask(server).calls[0].arguments == "{}"
    with OPENAI.server([Reply(calls=[Call("a__b", "")])]) as server:
        assert OPENAI.ask(server).calls[0].arguments == ""


@pytest.mark.parametrize("tool", ["", "no such tool", "tool\nwith a line", "t" * 300, "WORKSPACE__read_file"])
def test_an_invented_tool_name_comes_through_and_can_be_sent_back(vendor: Vendor, tool: str) -> None:
    with vendor.server([Reply(calls=[Call(tool, {"a": 1})]), "Sorry."]) as server:
        reply = vendor.ask(server)
        assert [call.tool for call in reply.calls] == [tool]
        vendor.ask(server, (*HELLO, answered(reply, "There is no such tool.", ok=False)))


def test_nul_and_lone_surrogates_are_replaced_visibly() -> None:
    said = Reply("a\x00b \ud83d c", [Call("a__b", '{"p": "\x00\udc00"}')])
    with OPENAI.server([said]) as server:
        reply = OPENAI.ask(server)
    assert reply.text == "a␀b � c"
    assert reply.calls[0].arguments == '{"p": "␀�"}'


def test_an_emoji_whose_halves_came_in_two_chunks_is_whole_again() -> None:
    with OPENAI.server([Reply("123456\ud83d\ude00 end")]) as server:
        assert OPENAI.ask(server).text == "123456😀 end"


def test_reasoning_goes_back_to_where_it_came_from_with_its_signature_and_in_its_place(vendor: Vendor) -> None:
    blocks = [Thinking("Let me think."), "I'll check.", Call("a__b", {"n": 1}), "Then more.", Call("a__b", {"n": 2})]
    with vendor.server([Reply(blocks=blocks), "Done."]) as server:
        reply = vendor.ask(server)
        assert reply.text == "I'll check.\n\nThen more."
        stored = replace(reply, extra=json.loads(json.dumps(reply.extra)))
        vendor.ask(server, (*HELLO, answered(stored, "1", "2")))
        sent = server.bodies[1]["messages"][-3 if vendor is OPENAI else -2]
    if vendor is OPENAI:
        assert sent["reasoning_content"] == "Let me think."
        assert sent["content"] == "I'll check.\n\nThen more."
        assert [call["function"]["arguments"] for call in sent["tool_calls"]] == ['{"n":1}', '{"n":2}']
    else:
        assert [block["type"] for block in sent["content"]] == ["thinking", "text", "tool_use", "text", "tool_use"]
        assert [block.get("text") for block in sent["content"]] == [None, "I'll check.", None, "Then more.", None]


def test_reasoning_of_another_provider_stays_behind(vendor: Vendor) -> None:
    other = ANTHROPIC if vendor is OPENAI else OPENAI
    with other.server([Reply(blocks=[Thinking("Secret."), "Hm.", Call("a__b", {})])]) as first:
        reply = other.ask(first)
    with vendor.server(["Done."]) as server:
        vendor.ask(server, (*HELLO, answered(reply, "1")))
        assert "Secret" not in json.dumps(server.bodies)
    with other.server(["Done."]) as elsewhere:
        other.ask(elsewhere, (*HELLO, answered(reply, "1")))
        assert "Secret" not in json.dumps(elsewhere.bodies)


BAD_PIECES = [
    [{}],
    [{"text": 1, "call": {}}],
    [{"text": "1"}],
    [{"call": 5}],
    [{"thought": {"content": 5}}],
    7,
    [7],
    [],
]


@pytest.mark.parametrize("extra", [7, [], {}, "…", {"version": 1}, {"version": 9, "pieces": []}, *BAD_PIECES], ids=repr)
def test_a_foreign_or_broken_extra_does_no_harm(vendor: Vendor, extra: object) -> None:
    with vendor.server([Reply("Hm.", [Call("a__b", {})]), "Done."]) as server:
        if extra in BAD_PIECES:
            extra = {"version": 1, "from": f"{vendor.kind} {server.base_url}", "pieces": extra}
        message = replace(answered(vendor.ask(server), "1"), extra=extra)
        assert vendor.ask(server, (*HELLO, message)).text == "Done."


def test_a_failed_result_is_marked_where_the_vendor_has_a_mark_and_its_text_is_the_same_everywhere(
    vendor: Vendor,
) -> None:
    with vendor.server([Reply(calls=[Call("a__b", {})]), "Done."]) as server:
        vendor.ask(server, (*HELLO, answered(vendor.ask(server), "It did not work.", ok=False)))
        last = server.bodies[1]["messages"][-1]
    if vendor is OPENAI:
        assert last["content"] == "It did not work."
    else:
        assert last["content"][0]["is_error"] is True
        assert last["content"][0]["content"] == [{"type": "text", "text": "It did not work."}]


def test_our_ids_go_out_and_results_follow_in_order(vendor: Vendor) -> None:
    with vendor.server([Reply(calls=[Call("a__b", {}, "x"), Call("a__b", {}, "x")]), "Done."]) as server:
        vendor.ask(server, (*HELLO, answered(vendor.ask(server), "1", "2")))
        messages = server.bodies[1]["messages"]
    ids = ["call_0192aaaa00007000800000000000000" + digit for digit in "01"]
    if vendor is OPENAI:
        assert [call["id"] for call in messages[-3]["tool_calls"]] == ids
        assert [(message["tool_call_id"], message["content"]) for message in messages[-2:]] == list(
            zip(ids, "12", strict=True)
        )
    else:
        assert [block["id"] for block in messages[-2]["content"]] == ids
        assert [block["tool_use_id"] for block in messages[-1]["content"]] == ids


def test_a_tools_schema_goes_out_as_it_is_and_a_long_description_is_cut(vendor: Vendor) -> None:
    schema = {
        "type": "object",
        "title": "Args",
        "properties": {"a": {"type": "string", "minLength": 1, "pattern": "^x", "default": "x"}},
        "additionalProperties": False,
    }
    with vendor.server(["Hi."]) as server:
        vendor.ask(server, tools=(ToolSpec("a__b", "d" * 3000, schema), ToolSpec("a__c", "", {})))
        first, second = server.bodies[0]["tools"]
    first, second = (first["function"], second["function"]) if vendor is OPENAI else (first, second)
    key = "parameters" if vendor is OPENAI else "input_schema"
    assert first[key] == schema
    assert len(first["description"]) == 1024
    assert second[key] == {"type": "object", "properties": {}}


def test_a_history_with_calls_is_taken_after_the_last_tool_was_taken_away(vendor: Vendor) -> None:
    with vendor.server([Reply(calls=[Call("a__b", {})]), "Done."]) as server:
        assert vendor.ask(server, (*HELLO, answered(vendor.ask(server), "1")), tools=()).text == "Done."


def test_a_refusal_is_what_the_model_said() -> None:
    details = {"refusal": "I can't help with that."}
    response = ModelResponse(parts=[], provider_details=details, finish_reason="content_filter")
    with OPENAI.server() as server:
        assert replies.read(response, OPENAI.request_to(server), system="openai").text == "I can't help with that."
