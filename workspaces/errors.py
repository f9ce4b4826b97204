"""The errors an operation may raise at a person or a caller.

Lives here: the base class, the errors every room shares, and how one is put as problem+json. A room's own errors
derive from these in its own `errors` module. Invariants: the docstring's first line is the message a reader gets
when none was given, so it is a plain sentence; `code` is stable, scripts branch on it; nothing secret goes into
`message` or `extra`.
"""

from http import HTTPStatus
from typing import Any, ClassVar


class LaybyError(Exception):
    """Something went wrong."""

    code: ClassVar[str] = "error"
    status: ClassVar[int] = 500

    def __init__(self, message: str = "", **extra: Any) -> None:
        self.message = message or (type(self).__doc__ or "").strip().split("\n", 1)[0]
        self.extra: dict[str, Any] = extra
        super().__init__(self.message)


class NotFound(LaybyError):
    """There is nothing here by that name or id."""

    code = "not_found"
    status = 404


class Forbidden(LaybyError):
    """Your role in this workspace does not allow this."""

    code = "forbidden"
    status = 403


class Invalid(LaybyError):
    """Something in what was sent is not valid."""

    code = "invalid"
    status = 422


class SchemaViolation(Invalid):
    """What was sent does not fit the schema it must fit."""

    code = "schema_violation"


class Conflict(LaybyError):
    """Somebody changed this meanwhile."""

    code = "conflict"
    status = 409


class AlreadyExists(Conflict):
    """There is already one by that name."""

    code = "already_exists"


class TooLarge(LaybyError):
    """What was sent is too large."""

    code = "too_large"
    status = 413


def problem(error: LaybyError) -> dict[str, Any]:
    """*error* as the members of an application/problem+json document (RFC 9457); `extra` joins as further members."""
    return {
        **error.extra,
        "type": "about:blank",
        "title": HTTPStatus(error.status).phrase,
        "status": error.status,
        "code": error.code,
        "detail": error.message,
    }
