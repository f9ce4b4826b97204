"""Trying again: as often as the agent's `provider_retries` allows, after waits that give the provider air.

May not: sleep, or know what a session is. The caller waits (it may give its slot back meanwhile, or raise to stop).
Invariant: only an error that says another try may help is tried again; the last one is the one raised.
"""

import random
from collections.abc import Callable

from sessions.contracts import ModelReply, ModelRequest, ProviderError
from sessions.llm.request import request

FIRST_SECONDS = 0.5
LONGEST_SECONDS = 60.0

Wait = Callable[[float], None]
OnRetry = Callable[[int, ProviderError, float], None]


def request_with_retries(
    req: ModelRequest,
    retries: int | None,
    wait: Wait,
    on_retry: OnRetry,
    *,
    attempt: Callable[[ModelRequest], ModelReply] = request,
) -> ModelReply:
    """The reply to *req* after at most 1 + *retries* attempts (None: no limit).

    Before each further attempt: `on_retry(number of failed attempts, their last error, seconds)`, then
    `wait(seconds)`. What either raises ends it. Raises the last ProviderError.
    """
    failed = 0
    while True:
        try:
            return attempt(req)
        except ProviderError as error:
            failed += 1
            if not error.retryable or (retries is not None and failed > retries):
                raise
            seconds = pause(failed, error.retry_after)
            on_retry(failed, error, seconds)
        wait(seconds)


def pause(failed: int, retry_after: float | None = None) -> float:
    """Seconds to wait after *failed* attempts: 0.5, 1, 2 … up to 60, each less up to half by chance.

    Never before *retry_after*, the provider's own word, unless that is beyond 60 seconds.
    """
    longest = min(LONGEST_SECONDS, FIRST_SECONDS * 2.0 ** min(failed - 1, 30))
    # By chance, so that the sessions a provider turned away together don't come back together.
    seconds = longest * random.uniform(0.5, 1.0)  # noqa: S311
    return min(LONGEST_SECONDS, max(seconds, retry_after or 0.0))
