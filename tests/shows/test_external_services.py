"""The one command on a database and a broker it did not start: it works through a session and leaves them alone."""

from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from config.launch.services import Services
from tests.shows.conftest import Caller
from tests.stack import Stack

pytestmark = pytest.mark.stack

SCRIPT = [
    {"calls": [{"tool": "system__ask_user", "arguments": {"prompt": "Go on?"}}]},
    {"say": "You said {{ result }}"},
]


@pytest.fixture
def theirs(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    """A database and a broker as an operator may have them: nothing of the command under test has started them."""
    for name in ("DATABASE_URL", "REDIS_URL"):
        monkeypatch.delenv(name, raising=False)
    services = Services(tmp_path_factory.mktemp("operators-own"), lambda text: None, throwaway=True)
    monkeypatch.setattr(services, "urls", services.start(), raising=False)
    yield services
    services.stop()


def test_it_works_on_services_of_others_and_a_stop_leaves_them_alone(
    make_stack: Callable[..., Stack], theirs: Services
) -> None:
    urls: dict[str, str] = theirs.urls  # type: ignore[attr-defined]
    stack = make_stack(env=urls).start()
    assert "postgres ready" not in stack.log and "valkey ready" not in stack.log
    assert not (stack.data / "postgres").exists() and not (stack.data / "valkey").exists()

    admin = Caller(stack, stack.token())
    agent = {"slug": "asker", "name": "Asker", "model": "scripted:x", "system_prompt": "", "tools": ["system"]}
    admin("POST", "/agents", {**agent, "script": SCRIPT}, 201)
    session = admin("POST", "/sessions", {"agent": "asker", "input": "Ask."}, 201)["id"]
    admin.until(session, "parked")
    admin("POST", f"/sessions/{session}/ask_user/respond", {"response": "Yes"}, 202)
    assert admin.until(session, "completed")["output"] == 'You said {"response":"Yes"}'
    ours = [stack.pid_of(part) for part in ("web", "worker-1", "beat")]
    assert stack.stop() == 0

    assert not [pid for pid in ours if Path(f"/proc/{pid}").exists()]
    assert [process.poll() for _, process in theirs.running] == [None, None]
    with psycopg.connect(urls["DATABASE_URL"]) as connection:
        states = connection.execute("SELECT state FROM agent_sessions_session").fetchall()
        connected = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        ).fetchone()
    assert states == [("completed",)] and connected == (0,)
    with redis.Redis.from_url(urls["REDIS_URL"]) as client:
        assert client.ping() and len(client.client_list(_type="normal")) == 1, "only this one"
