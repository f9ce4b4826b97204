"""What a person is told when a provider did not answer, and whether another try may help.

May not: let a key, a header or a stack trace through; the provider's own words are shown shortened, and without the
key should they repeat it. Invariant: every exception of the libraries becomes exactly one `ProviderError`.
"""

import logging
import re
from typing import Any

from sessions.contracts import ModelRequest, ProviderError
from workspaces.values import clean_text

SHOWN = 300

log = logging.getLogger(__name__)

# The vendors' words for a history that is too long, beside those the library knows.
_TOO_LONG = re.compile(
    r"context[ _]length|context window|context size|context limit|prompt is too long|input is too long"
    r"|too many (input )?tokens|maximum number of tokens|reduce the length",
    re.IGNORECASE,
)


def timed_out(req: ModelRequest) -> ProviderError:
    """The attempt took longer than the request allows."""
    return ProviderError(
        f"The model provider did not answer within {req.timeout_seconds:g} seconds.",
        failure="provider_timeout",
        retryable=True,
    )


def unreadable() -> ProviderError:
    """The provider sent something that is no reply of its kind."""
    return ProviderError(
        "The model provider sent an answer that could not be read.", failure="provider_unavailable", retryable=True
    )


def too_long() -> ProviderError:
    """The history doesn't fit the model."""
    return ProviderError("The conversation is too long for the model.", failure="context_too_long")


def from_library(error: Exception, req: ModelRequest) -> ProviderError:
    """The one error that *error*, of the model library or the HTTP client below it, means for a session."""
    import httpx2
    from pydantic_ai import exceptions as lib

    match error:
        case lib.ModelRequestTimeout() | lib.ModelTimeoutError() | httpx2.TimeoutException():
            return timed_out(req)
        case lib.ModelContextWindowExceededError():
            return too_long()
        case lib.ModelHTTPError():
            return _from_status(error, req)
        case lib.ModelConnectionError(phase=phase):
            return _unreachable(reached=phase not in ("connect", "pool"))
        case lib.ModelAuthenticationError():
            return _unauthorised()
        case lib.ModelNotFoundError():
            return _unknown(req)
        case lib.ModelQuotaExceededError():
            return _quota("provider_rejected")
        case lib.ModelRateLimitError():
            return _rate_limited(error.retry_after)
        case lib.ModelRequestRejectedError():
            return _rejected(error.message, req)
        case lib.ModelUnavailableError() | lib.ModelServerError():
            return _unavailable(None, error.retry_after)
        case lib.ModelAPIError():
            return _from_cause(error, req)
        case httpx2.ConnectError():
            return _unreachable(reached=False)
        case httpx2.TransportError():
            return _unreachable(reached=True)
        case lib.UserError():
            return _rejected(error.message, req)
    # The name only: what an exception of a parser says may be a piece of the conversation.
    log.warning("a model's answer could not be read: %s", type(error).__name__)
    return unreadable()


def _from_status(error: Any, req: ModelRequest) -> ProviderError:
    from pydantic_ai import exceptions as lib

    status, said = int(error.status_code), _words(error)
    if status == 413 or (status in (400, 422) and _TOO_LONG.search(said)):
        return too_long()
    if isinstance(error, lib.ModelQuotaExceededError):
        return _quota("provider_rate_limited" if status == 429 else "provider_rejected")
    if status in (401, 403):
        return _unauthorised() if isinstance(error, lib.ModelAuthenticationError) else _rejected(said, req)
    if status == 404:
        return _unknown(req)
    if status == 408:
        return timed_out(req)
    if status == 429:
        return _rate_limited(error.retry_after)
    if status >= 500 or isinstance(error, lib.ModelUnavailableError):
        return _unavailable(status, error.retry_after)
    return _rejected(said, req, status)


def _from_cause(error: Any, req: ModelRequest) -> ProviderError:
    """An error the library could not name: by the HTTP status below it, if there is one."""
    status = getattr(error.__cause__, "status_code", None)
    if isinstance(status, int) and 300 <= status < 400:
        return ProviderError(
            f"The model provider's address answered with a redirect ({status}), which is not followed. "
            "Check the provider's base URL.",
            failure="provider_rejected",
        )
    said = _words(error)
    if _TOO_LONG.search(said):
        return too_long()
    if error.in_stream and said:
        return _unavailable(None, error.retry_after)
    return unreadable()


def _words(error: Any) -> str:
    """What the provider itself said, from the body of its answer."""
    body = error.body
    for _ in range(3):
        if not isinstance(body, dict):
            break
        if isinstance(body.get("message"), str):
            return str(body["message"])
        body = body.get("error", body.get("detail"))
    return body if isinstance(body, str) else str(getattr(error, "provider_error_code", None) or "")


def _shown(said: str, req: ModelRequest) -> str:
    """*said* for a person: one line, without the key, at most 300 characters."""
    line = " ".join(clean_text(said).split())
    if key := " ".join(req.provider.api_key.split()):  # with its blanks as the line has them
        line = line.replace(key, "[key]")
    line = re.sub(r"(?i)\b(bearer\s+|sk-)[\w.*-]{6,}", "[key]", line)
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"


def _unauthorised() -> ProviderError:
    return ProviderError(
        "The model provider refused the API key. An admin must check the provider's key and what it may use.",
        failure="provider_auth",
    )


def _unknown(req: ModelRequest) -> ProviderError:
    return ProviderError(
        f"The model provider does not know the model {_shown(req.model, req)!r}, or its base URL is wrong.",
        failure="provider_unknown",
    )


def _quota(failure: str) -> ProviderError:
    return ProviderError("The quota or the credit of the account at the model provider is used up.", failure=failure)


def _rate_limited(retry_after: float | None) -> ProviderError:
    return ProviderError(
        "The model provider is limiting the rate of requests.",
        failure="provider_rate_limited",
        retryable=True,
        retry_after=retry_after,
    )


def _unavailable(status: int | None, retry_after: float | None) -> ProviderError:
    return ProviderError(
        f"The model provider failed ({status})." if status else "The model provider failed while it answered.",
        failure="provider_unavailable",
        retryable=True,
        retry_after=retry_after,
    )


def _unreachable(*, reached: bool) -> ProviderError:
    return ProviderError(
        "The connection to the model provider broke." if reached else "The model provider could not be reached.",
        failure="provider_unavailable",
        retryable=True,
    )


def _rejected(said: str, req: ModelRequest, status: int | None = None) -> ProviderError:
    what = f"The model provider refused the request{f' ({status})' if status else ''}"
    return ProviderError(f"{what}: {_shown(said, req)}" if said else f"{what}.", failure="provider_rejected")
