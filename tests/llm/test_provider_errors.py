"""R26: what a provider's failure means for a session, in words a person understands, without the key."""

from datetime import timedelta
from email.utils import format_datetime

import httpx2
import pytest

from sessions.contracts import ModelRequest, ProviderConfig, ProviderError, TranscriptMessage
from sessions.llm import failures
from sessions.llm.request import request
from tests.llm.asking import HELLO, OPENAI, Vendor
from tests.strict import Call, ContextTooLong, Cut, Fault, Hang, RateLimited, Reply, ServerError, StreamError, Thinking
from workspaces.clock import now

KEY = "sk-very-secret-0123456789abcdef"


def failure_of(vendor: Vendor, item: object, **more: object) -> ProviderError:
    """The error that *item* leads to, after exactly one request."""
    with vendor.server([item], api_key=KEY, may_refuse=True) as server:
        with pytest.raises(ProviderError) as caught:
            vendor.ask(server, **more)
        assert len(server.requests) == 1, "the library tried again by itself"
    assert KEY not in str(caught.value)
    assert "earer" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("item", "failure", "retryable"),
    [
        (Fault(401), "provider_auth", False),
        (Fault(403), "provider_auth", False),
        (Fault(404, "model: no-such-model", code="model_not_found"), "provider_unknown", False),
        (RateLimited(), "provider_rate_limited", True),
        (Fault(408), "provider_timeout", True),
        (ServerError(500), "provider_unavailable", True),
        (ServerError(502), "provider_unavailable", True),
        (ServerError(503), "provider_unavailable", True),
        (ServerError(529), "provider_unavailable", True),
        (StreamError(), "provider_unavailable", True),
        (ContextTooLong(), "context_too_long", False),
        (Fault(413, "Request exceeds the maximum size", kind="request_too_large"), "context_too_long", False),
        (Fault(402, "You owe us."), "provider_rejected", False),
        (Fault(400, "messages: bad"), "provider_rejected", False),
        (Fault(422, "messages: bad"), "provider_rejected", False),
        (Reply(), "empty_reply", True),
        (Reply(" \n"), "empty_reply", True),
        (Reply(blocks=[Thinking("Only thoughts.")]), "empty_reply", True),
        (Reply(finish="content_filter"), "provider_rejected", False),
    ],
    ids=str,
)
def test_each_failure_has_its_meaning(vendor: Vendor, item: object, failure: str, retryable: bool) -> None:
    if item == Reply(finish="content_filter") and vendor is not OPENAI:
        item = Reply(finish="refusal")
    error = failure_of(vendor, item)
    assert (error.failure, error.retryable) == (failure, retryable)
    assert error.message.endswith(".") or error.failure == "provider_rejected"


@pytest.mark.parametrize(
    "words",
    [
        "This model's maximum context length is 8192 tokens, however you requested 90210 tokens.",
        "prompt is too long: 219073 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000",
        "the request exceeds the available context size, try increasing it",
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
    ],
)
def test_a_history_that_is_too_long_is_known_in_the_words_of_each(vendor: Vendor, words: str) -> None:
    assert failure_of(vendor, Fault(400, words)).failure == "context_too_long"


def test_the_providers_own_words_are_shown_shortened(vendor: Vendor) -> None:
    error = failure_of(vendor, Fault(400, f"Unknown parameter\nfor {KEY} " + "x" * 1000))
    assert error.message.startswith("The model provider refused the request (400): Unknown parameter for [key] xxx")
    assert len(error.message) < 400


def test_the_wait_it_asks_for_is_kept_as_seconds_or_as_a_date(vendor: Vendor) -> None:
    assert failure_of(vendor, RateLimited("7")).retry_after == 7
    wait = failure_of(vendor, RateLimited(format_datetime(now() + timedelta(seconds=30), usegmt=True))).retry_after
    assert wait is not None and 25 <= wait <= 30
    assert failure_of(vendor, RateLimited("soon")).retry_after is None
    assert failure_of(vendor, Fault(503, headers={"retry-after": "3"})).retry_after == 3


def test_a_used_up_quota_is_not_tried_again() -> None:
    quota = Fault(429, "You exceeded your current quota.", code="insufficient_quota", kind="insufficient_quota")
    error = failure_of(OPENAI, quota)
    assert (error.failure, error.retryable) == ("provider_rate_limited", False)


def test_a_wrong_key_is_said_without_the_key(vendor: Vendor) -> None:
    with vendor.server(["never"]) as server:
        with pytest.raises(ProviderError) as caught:
            vendor.ask(server, api_key=KEY)
        assert server.unauthorised == 1
    assert caught.value.failure == "provider_auth"
    assert KEY not in repr(caught.value) + caught.value.message


@pytest.mark.parametrize("clean", [False, True], ids=["dies", "ends early"])
def test_a_stream_cut_at_any_chunk_is_an_error_and_never_a_shorter_answer(vendor: Vendor, clean: bool) -> None:
    reply = Reply("Two chunks of text.", [Call("system__ask_user", {"prompt": "Which?"}), Call("a__b", {"n": 1})])
    with vendor.server() as counting:
        chunks = len(list(counting.events(reply, "m")))
    assert chunks > 12
    # The last chunks only say that all has been said: with the finish reason in hand, an early end is an end.
    said_all = chunks - (2 if vendor is OPENAI else 1)
    with vendor.server([Cut(after, reply, clean) for after in range(chunks)]) as server:
        for after in range(chunks):
            if clean and after >= said_all:
                assert len(vendor.ask(server).calls) == 2
                continue
            with pytest.raises(ProviderError) as caught:
                vendor.ask(server)
            assert (caught.value.failure, caught.value.retryable) == ("provider_unavailable", True), after


@pytest.mark.parametrize("after", [0, 1, 4])
def test_a_provider_that_falls_silent_is_a_timeout(vendor: Vendor, after: int) -> None:
    error = failure_of(vendor, Hang(after=after), timeout_seconds=0.3)
    assert (error.failure, error.retryable) == ("provider_timeout", True)
    assert error.message == "The model provider did not answer within 0.3 seconds."


def test_nobody_listening_is_unavailable(vendor: Vendor) -> None:
    with vendor.server() as server:
        gone = vendor.request_to(server)
    with pytest.raises(ProviderError) as caught:
        request(gone)
    assert (caught.value.failure, caught.value.retryable) == ("provider_unavailable", True)


def test_something_that_is_no_model_provider_is_unavailable_or_unknown(vendor: Vendor) -> None:
    with vendor.server(may_refuse=True) as server:
        server.base_path = "/nowhere"
        with pytest.raises(ProviderError) as caught:
            vendor.ask(server)
    assert caught.value.failure == "provider_unknown"


def test_a_kind_that_nobody_configured_is_unknown(settings) -> None:
    asked = ModelRequest(ProviderConfig("oracle"), "m", "", HELLO)
    with pytest.raises(ProviderError) as caught:
        request(asked)
    assert caught.value.failure == "provider_unknown"
    settings.MODEL_PROVIDERS = {"oracle": "no.such.module"}
    with pytest.raises(ProviderError) as caught:
        request(asked)
    assert caught.value.failure == "provider_unknown"


@pytest.mark.parametrize("seconds", [0, -1, float("inf"), float("nan")])
def test_a_time_limit_that_is_none_is_refused(seconds: float) -> None:
    with pytest.raises(ProviderError):
        request(ModelRequest(ProviderConfig("scripted"), "m", "", HELLO, timeout_seconds=seconds))


def test_whatever_breaks_inside_the_library_is_an_unreadable_answer() -> None:
    asked = ModelRequest(ProviderConfig("openai"), "m", "", (TranscriptMessage("user", "x"),))
    for broken in (IndexError("list index out of range"), ValueError("secret text"), httpx2.ReadError("gone")):
        error = failures.from_library(broken, asked)
        assert (error.failure, error.retryable) == ("provider_unavailable", True)
        assert "secret text" not in error.message
