"""Two middlewares of our own: a bound on bodies before anybody reads them, and errors turned into answers.

Invariants: a body over its bound is refused by its declared length, before it is parsed; a LaybyError never becomes
a trace; what isn't ours goes on to Django's own handling.
"""

from collections.abc import Callable

import structlog
from django.conf import settings
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError

from config.errors import OUTAGES, outage, respond
from workspaces.errors import Invalid, LaybyError, TooLarge

logger = structlog.stdlib.get_logger(__name__)

MULTIPART_OVERHEAD = 64 * 1024
FILE_ROUTES = ("/api/files",)


def body_limit(request: HttpRequest) -> int:
    """How many bytes the body of *request* may have: an upload 25 MiB, anything else 1 MiB."""
    if request.content_type == "multipart/form-data" or (
        request.method == "PUT" and request.path.startswith(FILE_ROUTES)
    ):
        return settings.UPLOAD_MAX_BYTES + MULTIPART_OVERHEAD
    return settings.DATA_UPLOAD_MAX_MEMORY_SIZE


class BodyLimitMiddleware:
    """Refuses a body that says it is too long."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        limit = body_limit(request)
        try:
            length = int(request.META.get("CONTENT_LENGTH") or 0)
        except ValueError:
            return respond(request, Invalid("Content-Length is no number."))
        if length > limit:
            sent, most = f"{length / 2**20:,.1f} MiB", f"{limit / 2**20:.0f} MiB"
            return respond(request, TooLarge(f"What was sent has {sent}; at most {most} are accepted."))
        return self.get_response(request)


class ErrorMiddleware:
    """Turns the errors that operations raise, and Django's about a bad body, into answers."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if isinstance(exception, LaybyError):
            return respond(request, exception)
        if isinstance(exception, RequestDataTooBig | TooManyFilesSent | TooManyFieldsSent):
            return respond(request, TooLarge())
        if isinstance(exception, OUTAGES):
            logger.warning("outage", error=str(exception), path=request.path)
            return outage(request, exception)
        if isinstance(exception, MultiPartParserError):
            return respond(request, Invalid("The form that was sent could not be read."))
        return None
