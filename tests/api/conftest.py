"""What tests of the API share: callers by role, an agent that asks, and the runtime's fixtures of tests/sessions."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client

from sessions.models import Session
from tests.sessions.conftest import ASK, make_agent, start, test_tools, work, worker, write

__all__ = ["ASK", "Answer", "Caller", "make_agent", "start", "test_tools", "work", "worker", "write"]

SCRIPT = [{"say": "A matter of taste.", "calls": [ASK]}, {"calls": [write()]}, {"say": "Done."}]


@dataclass(frozen=True)
class Answer:
    """One answer of the API."""

    status: int
    body: Any
    kind: str

    def problem(self, status: int, code: str) -> dict[str, Any]:
        """The problem's members, once it is known to be that one."""
        assert (self.status, self.kind) == (status, "application/problem+json"), self
        assert self.body["code"] == code, self
        assert self.body["status"] == status and self.body["detail"] and self.body["title"]
        return self.body

    def ok(self, status: int = 200) -> Any:
        """The body, once it is known to be that status."""
        assert self.status == status, self
        return self.body


class Caller:
    """Somebody with a token (or none), who sends JSON."""

    def __init__(self, token: str = "") -> None:
        self.client = Client(headers={"Authorization": f"Bearer {token}"} if token else None)

    def call(self, method: str, path: str, body: Any = None) -> Answer:
        """*body*: a value to send as JSON, or bytes to send as they are."""
        raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        response = self.client.generic(method, path, raw, content_type="application/json")
        kind = response.headers.get("Content-Type", "").partition(";")[0]
        content = response.getvalue()
        return Answer(response.status_code, json.loads(content) if content and kind.endswith("json") else content, kind)

    def get(self, path: str) -> Answer:
        return self.call("GET", path)

    def post(self, path: str, body: Any = None) -> Answer:
        return self.call("POST", path, body)

    def put(self, path: str, body: Any = None) -> Answer:
        return self.call("PUT", path, body)


@pytest.fixture
def viewer(viewer_token: str) -> Caller:
    return Caller(viewer_token)


@pytest.fixture
def operator(operator_token: str) -> Caller:
    return Caller(operator_token)


@pytest.fixture
def approver(approver_token: str) -> Caller:
    return Caller(approver_token)


@pytest.fixture
def admin(admin_token: str) -> Caller:
    return Caller(admin_token)


@pytest.fixture
def stranger(foreign_token: str) -> Caller:
    """An admin of the other workspace."""
    return Caller(foreign_token)


@pytest.fixture
def waiting(start: Callable[..., Session], worker: Any) -> Callable[..., Session]:
    """Start a session that asks and drive it until it waits."""

    def make(script: list[dict[str, Any]] | None = None, **more: Any) -> Session:
        session = start(SCRIPT if script is None else script, **more)
        work(worker)
        return session

    return make
