"""R27, by fuzzing: whatever a transcript holds, neither strict provider refuses what goes out.

Through the real library down to the bytes; only the socket is left out.
"""

import json
from collections.abc import Iterator

import httpx2
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from sessions.contracts import ModelRequest, ProviderConfig, TranscriptCall, TranscriptMessage
from sessions.llm import clients, layout, loop, transcript
from sessions.llm.request import request
from tests.llm.asking import ANTHROPIC, ASK, OPENAI, Vendor
from tests.strict import Reply, anthropic_rules, openai_rules
from tests.strict.server import Refused

URL = "http://provider.test/v1"
ANY_TEXT = st.one_of(
    st.sampled_from(["", " ", "\n\t", "hello", "\x00", "\ud83d", "<|im_start|>system", "[TOOL_CALLS]", "</think>"]),
    st.text(st.characters(codec=None, exclude_categories=()), max_size=12),  # type: ignore[arg-type]
)
ARGUMENTS = st.one_of(
    st.sampled_from(
        ["", "{}", "null", "[]", '{"a": NaN}', '{"a": 1e400}', '{"a": 1, "a": 2}', '{"a', "\ufeff{}", "{} {}"]
    ),
    st.dictionaries(ANY_TEXT, ANY_TEXT, max_size=3).map(json.dumps),
    st.sampled_from(['{"a":' * 300 + "1" + "}" * 300, '{"n": ' + "9" * 5000 + "}", '{"\\ud83d": "\\u0000"}']),
    ANY_TEXT,
)
IDS = st.one_of(st.uuids().map(str), st.sampled_from(["a", "a", "", "x" * 300]), ANY_TEXT)
TOOLS = st.one_of(st.sampled_from(["system__ask_user", "", "no such\ntool", "t" * 300]), ANY_TEXT)
CALL = st.builds(TranscriptCall, IDS, TOOLS, ARGUMENTS, ANY_TEXT, st.booleans())
DETAILS = st.sampled_from([None, {"extra_content": {"google": {"thought_signature": "s"}}}])
UNSIGNED = st.builds(layout.Thought, ANY_TEXT, st.sampled_from([None, "content", "reasoning_content"]))
SIGNED = ANY_TEXT.map(lambda text: layout.Thought(text, None, anthropic_rules.signature(text)))
FOREIGN = st.one_of(st.none(), st.dictionaries(st.text(max_size=3), st.integers(), max_size=2))


@st.composite
def laid_out(draw: st.DrawFn) -> TranscriptMessage:
    """A reply with a layout of its own, from one of the two providers."""
    pieces: list[layout.Piece] = []
    calls: list[TranscriptCall] = []
    for kind in draw(st.lists(st.sampled_from(["text", "call", "thought"]), max_size=6)):
        if kind == "call":
            pieces.append(layout.CallAt(len(calls), draw(DETAILS)))
            calls.append(draw(CALL))
        elif kind == "thought":
            pieces.append(draw(st.one_of(UNSIGNED, SIGNED)))
        elif text := draw(ANY_TEXT):
            pieces.append(text)
    provider = ProviderConfig(draw(st.sampled_from(["openai", "anthropic"])), URL)
    extra = layout.keep(pieces, provider)
    text = layout.SEPARATOR.join(piece for piece in pieces if isinstance(piece, str))
    return TranscriptMessage("assistant", text, tuple(calls), extra)


CALLS = st.lists(CALL, max_size=4).map(tuple)
MESSAGES = st.lists(
    st.one_of(
        st.builds(TranscriptMessage, st.just("user"), ANY_TEXT),
        st.builds(TranscriptMessage, st.just("assistant"), ANY_TEXT, CALLS, FOREIGN),
        laid_out(),
    ),
    max_size=8,
).map(tuple)


@pytest.fixture
def refusals(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Providers without sockets: what they refused."""
    found: list[str] = []
    openai, anthropic = OPENAI.server(), ANTHROPIC.server()

    def answer(http: httpx2.Request) -> httpx2.Response:
        server, rules = (
            (openai, openai_rules) if http.url.path.endswith("completions") else (anthropic, anthropic_rules)
        )
        try:
            rules.check(json.loads(http.content))
        except Refused as refused:
            found.append(f"{refused} in {http.content!r}")
        events = "".join(server.events(Reply("ok"), "some-model"))
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=events.encode())

    monkeypatch.setattr(
        clients, "http_client", lambda: httpx2.AsyncClient(transport=httpx2.MockTransport(answer), trust_env=False)
    )
    loop.close()  # and with it the clients that other tests made
    yield found
    loop.close()
    openai._server.server_close()
    anthropic._server.server_close()


@pytest.mark.parametrize("vendor", [OPENAI, ANTHROPIC], ids=lambda vendor: vendor.kind)
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(messages=(), prompt="", tools=())
@example(messages=(TranscriptMessage("assistant", "first"),), prompt="Be.", tools=())
@example(messages=(TranscriptMessage("user", ""), TranscriptMessage("assistant", " ")) * 2, prompt=" ", tools=(ASK,))
@example(
    messages=(
        TranscriptMessage("assistant", "a"),
        TranscriptMessage("assistant", "b", (TranscriptCall("i", "t", "{}", ""),)),
    ),
    prompt="Be.",
    tools=(),
)
@given(messages=MESSAGES, prompt=ANY_TEXT, tools=st.sampled_from([(), (ASK,)]))
def test_no_transcript_whatever_is_refused(
    refusals: list[str], vendor: Vendor, messages: tuple[TranscriptMessage, ...], prompt: str, tools: tuple
) -> None:
    refusals.clear()
    provider = ProviderConfig(vendor.kind, URL, "key")
    reply = request(ModelRequest(provider, vendor.model, prompt, messages, tools))
    assert reply.text == "ok"
    assert refusals == []


@given(arguments=ARGUMENTS)
def test_arguments_always_become_an_object_that_can_be_stored(arguments: str) -> None:
    json.dumps(transcript.wire_arguments(arguments), allow_nan=False, ensure_ascii=False).encode()


@given(name=TOOLS)
def test_tool_names_always_fit(name: str) -> None:
    assert openai_rules.NAME.fullmatch(transcript.wire_tool_name(name))
