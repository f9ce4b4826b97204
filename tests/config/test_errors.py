"""Errors as answers: a page, a fragment, or problem+json, with the right status and nothing of ours in it."""

import json

import pytest
import redis
from django.core.exceptions import RequestDataTooBig
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory

from config import errors
from config.middleware import BodyLimitMiddleware, ErrorMiddleware
from workspaces.errors import Conflict, Forbidden, NotFound

MIB = 1024 * 1024


def raised(error: Exception, path: str = "/w/demo/", **headers: str) -> HttpResponse | None:
    request = RequestFactory().get(path, **headers)
    return ErrorMiddleware(lambda _: HttpResponse()).process_exception(request, error)


@pytest.mark.parametrize(
    ("error", "status"), [(NotFound(), 404), (Forbidden(), 403), (Conflict("Bob was first."), 409)]
)
def test_an_operations_error_is_a_page_with_its_status(error: Exception, status: int) -> None:
    answer = raised(error)
    assert answer is not None
    assert answer.status_code == status
    assert str(error) in answer.content.decode()
    assert "<html" in answer.content.decode()


def test_htmx_gets_a_fragment_not_a_page() -> None:
    answer = raised(Conflict("Bob was first."), HTTP_HX_REQUEST="true")
    assert answer is not None
    assert (answer.status_code, "<html" in answer.content.decode()) == (409, False)
    assert "Bob was first." in answer.content.decode()


def test_the_api_gets_a_problem_with_its_code() -> None:
    answer = raised(Conflict("Bob was first.", winner="Bob"), "/api/sessions")
    assert answer is not None
    assert answer["Content-Type"] == "application/problem+json"
    document = json.loads(answer.content)
    assert (document["status"], document["code"], document["winner"]) == (409, "conflict", "Bob")


@pytest.mark.parametrize("error", [OperationalError("gone"), redis.ConnectionError("gone")])
@pytest.mark.parametrize("path", ["/w/demo/", "/api/sessions"])
def test_a_service_that_is_away_is_a_503_that_says_so(error: Exception, path: str) -> None:
    answer = raised(error, path)
    assert answer is not None
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert "What was recorded before is safe" in answer.content.decode()
    assert "gone" not in answer.content.decode()


def test_what_is_not_ours_goes_on_to_django() -> None:
    assert raised(KeyError("x")) is None
    assert raised(RequestDataTooBig()).status_code == 413  # type: ignore[union-attr]


def test_text_in_an_error_is_never_markup() -> None:
    answer = raised(NotFound("<script>alert(1)</script>"))
    assert answer is not None
    assert b"<script>alert" not in answer.content


@pytest.mark.django_db
def test_an_unknown_page_and_an_unknown_api_path(client: Client) -> None:
    page, problem = client.get("/nowhere"), client.get("/api/nowhere")
    assert (page.status_code, problem.status_code) == (404, 404)
    assert problem.json()["code"] == "not_found"


@pytest.mark.django_db
def test_the_api_without_a_token_says_what_is_needed(client: Client) -> None:
    answer = client.get("/api/sessions")
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
    assert answer["WWW-Authenticate"].startswith("Bearer")


def test_an_unexpected_failure_shows_nothing_of_itself(rf: RequestFactory) -> None:
    for path in ("/w/demo/", "/api/sessions"):
        try:
            raise RuntimeError("inner words")
        except RuntimeError:
            answer = errors.server_error(rf.get(path))
        assert answer.status_code == 500
        assert "inner words" not in answer.content.decode()


def test_a_form_of_an_older_sign_in_is_refused_in_words(rf: RequestFactory) -> None:
    answer = errors.csrf_failure(rf.post("/w/demo/"))
    assert answer.status_code == 403
    assert "Nothing was changed" in answer.content.decode()


def limited(length: int | str, method: str = "POST", path: str = "/w/demo/", kind: str = "application/json") -> int:
    def view(request: HttpRequest) -> HttpResponse:
        return HttpResponse(status=204)

    request = RequestFactory().generic(method, path, CONTENT_TYPE=kind, CONTENT_LENGTH=str(length))
    return BodyLimitMiddleware(view)(request).status_code


def test_bodies_have_a_bound_by_what_they_are() -> None:
    form = "multipart/form-data; boundary=x"
    assert limited(MIB) == 204
    assert limited(MIB + 1) == 413
    assert limited(25 * MIB, kind=form) == 204
    assert limited(26 * MIB, kind=form) == 413
    assert limited(25 * MIB, "PUT", "/api/files/a.txt", "text/plain") == 204
    assert limited(10**9, "PUT", "/api/files/a.txt", "text/plain") == 413
    assert limited("many") == 422
