"""Trying again: how often, after how long, and when not."""

from collections.abc import Callable

import pytest

from sessions.contracts import ModelReply, ModelRequest, ProviderConfig, ProviderError
from sessions.llm.retry import pause, request_with_retries
from tests.llm.asking import HELLO, OPENAI, Vendor
from tests.strict import Cut, ServerError

ASKED = ModelRequest(ProviderConfig("scripted"), "m", "", HELLO)
DOWN = ProviderError("Down.", failure="provider_unavailable", retryable=True)


class Stopped(BaseException):
    """What a worker raises to unwind."""


def failing(times: int, error: ProviderError = DOWN) -> Callable[[ModelRequest], ModelReply]:
    """An attempt that fails so many *times* and then succeeds."""
    left = [error] * times

    def attempt(req: ModelRequest) -> ModelReply:
        if left:
            raise left.pop()
        return ModelReply("There.")

    return attempt


def play(attempt: Callable[[ModelRequest], ModelReply], retries: int | None) -> tuple[str, list[float], list[int]]:
    """How it ended, the waits, and the attempts it told of."""
    waits: list[float] = []
    told: list[int] = []
    try:
        end = request_with_retries(
            ASKED, retries, waits.append, lambda number, error, seconds: told.append(number), attempt=attempt
        ).text
    except ProviderError as error:
        end = error.failure
    return end, waits, told


def test_it_tries_again_until_there_is_a_reply() -> None:
    end, waits, told = play(failing(3), 8)
    assert (end, told, len(waits)) == ("There.", [1, 2, 3], 3)


@pytest.mark.parametrize(("retries", "attempts"), [(0, 1), (1, 2), (8, 9)])
def test_the_limit_counts_what_follows_the_first_attempt(retries: int, attempts: int) -> None:
    end, waits, told = play(failing(100), retries)
    assert (end, len(told) + 1, len(waits) + 1) == ("provider_unavailable", attempts, attempts)


def test_without_a_limit_it_goes_on() -> None:
    assert play(failing(100), None)[0] == "There."


def test_what_another_try_cannot_help_is_not_tried_again() -> None:
    assert play(failing(1, ProviderError("No.", failure="provider_auth")), 8) == ("provider_auth", [], [])


def test_the_waits_grow_by_half_to_whole_doublings_up_to_a_minute() -> None:
    for failed, longest in [(1, 0.5), (2, 1), (3, 2), (6, 16), (8, 60), (50, 60), (5000, 60)]:
        waits = [pause(failed) for _ in range(200)]
        assert longest / 2 <= min(waits) <= max(waits) <= longest
        assert len(set(waits)) > 100, "all would come back together"


def test_the_providers_word_is_kept_but_never_beyond_a_minute() -> None:
    assert pause(1, retry_after=7.0) == 7.0
    assert pause(1, retry_after=3600.0) == 60.0
    assert 0.25 <= pause(1, retry_after=0.0) <= 0.5
    assert pause(8, retry_after=1.0) >= 30


def test_who_waits_may_stop_it() -> None:
    def stop(seconds: float) -> None:
        raise Stopped

    with pytest.raises(Stopped):
        request_with_retries(ASKED, 8, stop, lambda *_: None, attempt=failing(100))


def test_five_failures_in_a_row_at_a_real_provider_and_then_its_answer(vendor: Vendor) -> None:
    plan = [ServerError(), Cut(2), ServerError(503), Cut(0), ServerError(429), "There."]
    told: list[str] = []
    with vendor.server(plan) as server:
        reply = request_with_retries(
            vendor.request_to(server),
            8,
            lambda seconds: None,
            lambda number, error, seconds: told.append(error.failure),
        )
        assert server.bodies == [server.bodies[0]] * 6, "each attempt sends the same"
    assert reply.text == "There."
    assert told == ["provider_unavailable"] * 4 + ["provider_rate_limited"]


def test_nothing_is_asked_once_more_than_the_limit_allows() -> None:
    with OPENAI.server([ServerError()] * 9) as server:
        with pytest.raises(ProviderError):
            request_with_retries(OPENAI.request_to(server), 2, lambda seconds: None, lambda *_: None)
        assert len(server.requests) == 3
