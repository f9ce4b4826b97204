"""What tests of sessions share: an agent on the scripted model, a worker in this process, and acts by name."""

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from sessions.engine import runner
from sessions.engine.process import Process
from sessions.models import Call, JournalEntry, Session, Yield
from sessions.operations.agents import create_agent
from sessions.operations.providers import seed
from sessions.operations.sessions import start_session
from tests.sessions import toolset
from workspaces.actors import SYSTEM, Actor
from workspaces.models import Workspace

ASK: dict[str, Any] = {"tool": "system__ask_user", "arguments": {"prompt": "Which name?"}}


def write(path: str = "chosen.md", content: str = "{{ result }}") -> dict[str, Any]:
    """A scripted call of write_file."""
    return {"tool": "workspace__write_file", "arguments": {"path": path, "content": content}}


@pytest.fixture(autouse=True)
def test_tools(settings: Any) -> Iterator[None]:
    """The toolset `test` beside the product's own, with nothing to act yet."""
    settings.TOOLSETS = {**settings.TOOLSETS, "test": "tests.sessions.toolset.toolset"}
    toolset.ACTS.clear()
    toolset.RAN.clear()
    yield
    toolset.ACTS.clear()


@pytest.fixture
def make_agent(acme: Workspace) -> Callable[..., str]:
    """Make an agent with a script; its slug."""
    seed(SYSTEM, acme)
    count = iter(range(1000))

    def make(script: list[dict[str, Any]], tools: list[str] | None = None, **more: Any) -> str:
        slug = f"agent-{next(count)}"
        definition = {
            "model": "scripted:test",
            "tools": tools or ["system", "workspace", "test"],
            "script": script,
            **more,
        }
        create_agent(SYSTEM, acme, slug, slug, definition)
        return slug

    return make


@pytest.fixture
def start(acme: Workspace, make_agent: Callable[..., str]) -> Callable[..., Session]:
    """Start a session of a fresh agent with that script."""

    def starts(script: list[dict[str, Any]], *, by: Actor = SYSTEM, **more: Any) -> Session:
        return start_session(by, acme, make_agent(script, **more), "Decide and create the file.")[0]

    return starts


@pytest.fixture
def worker(transactional_db: None) -> Iterator[Process]:
    """This process as a worker with a valid lease; `work(worker)` drives what is claimable."""
    process = Process(4)
    process.beat()
    yield process
    process.leave()


def work(process: Process) -> int:
    """Drive until nothing is claimable, as one slot of a worker does."""
    return runner.work(process)


def the_wait(session: Session) -> Yield:
    """The session's only open wait."""
    return Yield.objects.get(session=session, outcome__isnull=True)


def state(session: Session) -> str:
    """The session's state now."""
    return Session.objects.values_list("state", flat=True).get(pk=session.pk)


def results(session: Session) -> list[tuple[str, str, str | None]]:
    """(tool, status, result) of all calls in order."""
    rows = Call.objects.filter(session=session).order_by("turn", "position")
    return [(c.tool, c.status, c.result) for c in rows]


def journal(session: Session) -> list[str]:
    """The kinds of the session's entries; asserts that their numbers have no gap and reach the session's own."""
    entries = list(JournalEntry.objects.filter(session=session).order_by("seq"))
    numbers = [e.seq for e in entries]
    assert numbers == list(range(1, len(numbers) + 1))
    assert numbers[-1] == Session.objects.values_list("seq", flat=True).get(pk=session.pk)
    return [e.kind for e in entries]


def loads(text: str | None) -> Any:
    """JSON text as a value."""
    assert text is not None
    return json.loads(text)


def call(name: str, /, **arguments: Any) -> dict[str, Any]:
    """A scripted call of a test tool."""
    return {"tool": f"test__{name}", "arguments": arguments}


def in_thread(act: Callable[[], Any]) -> Future[Any]:
    """Run *act* in a thread with a connection of its own."""

    def run() -> Any:
        try:
            return act()
        finally:
            connection.close()

    pool = ThreadPoolExecutor(1)
    future = pool.submit(run)
    pool.shutdown(wait=False)
    return future


def until_blocked(future: Future[Any]) -> None:
    """Return once some backend of this database waits for a lock; fails if the future ends before."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        assert not future.done(), f"it did not wait: {future.result()!r}"
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
            if cursor.fetchone()[0]:
                return
    raise AssertionError("nothing ever waited for a lock")
