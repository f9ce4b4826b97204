"""Callers of the shared stack's API: one token per role for the whole run."""

from typing import Any

import pytest

from tests.stack import Stack


class Caller:
    """Somebody who calls the API of a running stack with a token, and says which status is right."""

    def __init__(self, stack: Stack, token: str) -> None:
        self.stack, self.token = stack, token

    def __call__(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        """The answer's JSON or text; asserts its status."""
        got, said = self.stack.call(method, f"/api{path}", body, self.token)
        assert got == status, (got, said)
        return said

    def until(self, session: str, *states: str, seconds: float = 40) -> Any:
        """Wait until the session is in one of these states; what the API says of it."""
        return self.stack.until(
            lambda: (found := self("GET", f"/sessions/{session}"))["state"] in states and found,
            seconds,
            f"{session} was not {states}",
        )

    def with_role(self, role: str) -> "Caller":
        """Another caller of the same workspace; only an admin makes one."""
        made = self("POST", "/tokens", {"name": f"shows-{role}", "role": role}, 201)
        return Caller(self.stack, made["token"])


@pytest.fixture(scope="session")
def admin(stack: Stack) -> Caller:
    """An admin of the demo workspace."""
    return Caller(stack, stack.token("admin"))


@pytest.fixture(scope="session")
def operator(admin: Caller) -> Caller:
    """An operator of the demo workspace."""
    return admin.with_role("operator")
