"""How an error looks: a page, a fragment for HTMX, or problem+json under /api/. One place for all three.

Lives here: rendering only. Which error means what is said where the error is defined.
"""

import sys
from http import HTTPStatus
from typing import Any

import redis
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.exceptions import TemplateDoesNotExist
from django.template.loader import render_to_string
from django.utils.html import format_html

from workspaces.errors import LaybyError, problem

HINTS = {
    403: "If you think you should be able to, ask an admin of the workspace.",
    404: "It may have been removed, or it belongs to a workspace you are not in.",
    409: "Reload the page to see how things stand now.",
    413: "Files may have up to 25 MiB.",
    500: "It is in the log. Nothing that was recorded before is lost.",
    503: "It usually comes back by itself within a minute.",
}


OUTAGES = (OperationalError, InterfaceError, redis.ConnectionError, redis.TimeoutError)


def wants_json(request: HttpRequest) -> bool:
    """Whether *request* is to the API, whose errors are problem+json."""
    return request.path.startswith(("/api/", "/hooks/"))


def problem_response(members: dict[str, Any], headers: dict[str, str] | None = None) -> HttpResponse:
    """*members* as application/problem+json with their own status."""
    return JsonResponse(
        members, status=members["status"], content_type="application/problem+json", headers=headers or {}
    )


def plain_problem(status: int, code: str, detail: str, **extra: Any) -> HttpResponse:
    """A problem that no LaybyError stands for (a route that isn't there, an unexpected failure)."""
    title = HTTPStatus(status).phrase
    return problem_response(
        {**extra, "type": "about:blank", "title": title, "status": status, "code": code, "detail": detail}
    )


def respond(request: HttpRequest, error: LaybyError) -> HttpResponse:
    """*error* in the form that the asker of *request* understands, with the error's status."""
    if wants_json(request):
        return problem_response(problem(error))
    return page(request, error.status, error.message, code=error.code, extra=error.extra)


def page(request: HttpRequest, status: int, message: str, hint: str = "", **more: Any) -> HttpResponse:
    """The error page, or its fragment when HTMX asked. Never raises: without the templates it is plain HTML."""
    htmx = bool(request.headers.get("HX-Request")) and request.headers.get("HX-Boosted") != "true"
    title = HTTPStatus(status).phrase
    context = {"status": status, "title": title, "message": message, "hint": hint or HINTS.get(status, ""), **more}
    template = "components/error.html" if htmx else "error.html"
    try:
        body: str = render_to_string(template, context, request=request)
    except TemplateDoesNotExist:
        body = _bare(context)
    except Exception:  # noqa: BLE001 - the page of an error must not be a second error (the database may be gone)
        body = _bare(context)
    response = HttpResponse(body, status=status)
    response["Cache-Control"] = "no-store"
    return response


def _bare(context: dict[str, Any]) -> str:
    return format_html(
        '<!doctype html><html lang="en"><title>{title}</title><h1>{title}</h1><p role="alert">{message}</p>'
        '<p>{hint}</p><p><a href="/">Layby</a></p></html>',
        **{key: context[key] for key in ("title", "message", "hint")},
    )


def outage(request: HttpRequest, error: BaseException) -> HttpResponse:
    """The answer while the database or the broker is away: 503, and what that means for the asker."""
    what = "broker" if isinstance(error, redis.RedisError) else "database"
    message = f"The {what} doesn't answer at the moment. What was recorded before is safe."
    response = plain_problem(503, "unavailable", message) if wants_json(request) else page(request, 503, message)
    response["Retry-After"] = "5"
    return response


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Django's handler400."""
    if wants_json(request):
        return plain_problem(400, "bad_request", "The request could not be understood.")
    return page(request, 400, "The request could not be understood.")


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Django's handler403."""
    if wants_json(request):
        return plain_problem(403, "forbidden", "You may not do this.")
    return page(request, 403, "You may not do this.")


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Django's handler404."""
    if wants_json(request):
        return plain_problem(404, "not_found", "There is nothing here by that name or id.")
    return page(request, 404, "There is nothing here by that name or id.")


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's handler500; called while the error is being handled."""
    error = sys.exc_info()[1]
    if isinstance(error, OUTAGES):
        return outage(request, error)
    if wants_json(request):
        return plain_problem(500, "internal", "Something went wrong on our side; it is in the log.")
    return page(request, 500, "Something went wrong on our side.")


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Django's CSRF_FAILURE_VIEW: a form that is too old, or another site's."""
    message = "This page is older than your sign-in, so what you sent was not accepted. Nothing was changed."
    hint = "Reload the page and send it again."
    if wants_json(request):
        return plain_problem(403, "csrf_failed", message)
    return page(request, 403, message, hint, code="csrf_failed")
