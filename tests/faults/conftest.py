"""A stack of a test's own with the witness's tools, and a client that speaks its API."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.faults.witness import Witness
from tests.stack import Stack

ASK = {"tool": "system__ask_user", "arguments": {"prompt": "Go on?"}}


class Client:
    """One running Layby by its API, as a caller sees it."""

    def __init__(self, stack: Stack, witness: Witness) -> None:
        self.stack, self.witness = stack, witness
        self.token = stack.token()
        self._agents = 0

    def agent(self, script: list[dict[str, Any]], model: str = "scripted:x", **more: Any) -> str:
        """A new agent; its slug."""
        self._agents += 1
        slug = f"agent-{self._agents}"
        tools = ["system", "workspace", "witness"]
        body = {
            "slug": slug,
            "name": slug,
            "model": model,
            "system_prompt": "",
            "tools": tools,
            "script": script,
            **more,
        }
        status, answer = self.call("POST", "/api/agents", body)
        assert status == 201, answer
        return slug

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        return self.stack.call(method, path, body, self.token)

    def start(self, agent: str) -> str:
        """A new session; its id."""
        status, answer = self.call("POST", "/api/sessions", {"agent": agent, "input": "Do it."})
        assert status == 201, answer
        return str(answer["id"])

    def state(self, session: str) -> str:
        """The session's state; "" while the API cannot say."""
        try:
            status, answer = self.call("GET", f"/api/sessions/{session}")
        except OSError:
            return ""
        return str(answer["state"]) if status == 200 else ""

    def until(self, session: str, state: str, seconds: float = 40) -> None:
        """Wait until the session is in that state."""
        self.stack.until(lambda: self.state(session) == state, seconds, f"{session} was not {state}")

    def answer(self, session: str, response: Any = "yes") -> None:
        status, answer = self.call("POST", f"/api/sessions/{session}/ask_user/respond", {"response": response})
        assert status == 202, answer

    def parked(self, script: list[dict[str, Any]] | None = None) -> str:
        """A session that waits for an answer and then ends."""
        session = self.start(self.agent(script or [{"calls": [ASK]}, {"say": "{{ result }}"}]))
        self.until(session, "parked")
        return session

    def seen(self, what: str, count: int, seconds: float = 20) -> None:
        """Wait until the witness was told *count* times."""
        self.stack.until(lambda: len(self.witness.lines(what)) >= count, seconds, f"no {count} times {what}")

    def again(self, seconds: float = 40) -> None:
        """Wait until the API answers again after a kill."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            try:
                if self.call("GET", "/readyz")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.1)
        raise AssertionError("the API did not come back")


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """One stack with the witness's tools for all fault tests: each leaves it working, whatever it killed."""
    witness = Witness(tmp_path_factory.mktemp("witness") / "told")
    env = {"DJANGO_SETTINGS_MODULE": "tests.faults.settings", "LAYBY_WITNESS": str(witness.path)}
    stack = Stack(slots=10, env=env)
    try:
        yield Client(stack.start(), witness)
    finally:
        stack.remove()


@pytest.fixture
def here(shared: Client) -> Client:
    """The shared stack, answering, with nothing told to the witness yet."""
    shared.again()
    shared.witness.path.unlink(missing_ok=True)
    return shared
