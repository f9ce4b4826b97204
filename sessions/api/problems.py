"""How the OpenAPI document describes errors: problem+json (RFC 9457) with a stable `code`."""

from http import HTTPStatus
from typing import Any

_SCHEMA: dict[str, Any] = {
    "title": "Problem",
    "type": "object",
    "required": ["type", "title", "status", "code", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string", "description": "Stable: scripts branch on it."},
        "detail": {"type": "string", "description": "A sentence for people."},
    },
}

_MEANINGS = {
    401: "`unauthenticated`: no token, or one that is unknown or revoked.",
    403: "`forbidden`: the token's role is not enough.",
    404: "`not_found`: there is no such thing in the token's workspace.",
    413: "`too_large`: the body is longer than 1 MiB.",
    422: "`invalid`: something in what was sent is not valid; `errors` lists the fields of a body.",
    503: "`unavailable`: the database does not answer at the moment.",
}


def problems(*statuses: int, **more: str) -> dict[str, Any]:
    """The `openapi_extra` of a route that may answer 401, 503 and *statuses*; `s409="…"` gives one its own words."""
    meanings = {status: _MEANINGS[status] for status in (401, *statuses, 503)}
    meanings |= {int(name[1:]): text for name, text in more.items()}
    return {
        "responses": {
            status: {
                "description": f"{HTTPStatus(status).phrase}. {meanings[status]}",
                "content": {"application/problem+json": {"schema": _SCHEMA}},
            }
            for status in sorted(meanings)
        }
    }
