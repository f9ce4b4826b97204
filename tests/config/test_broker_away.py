"""A broker that is dead or frozen costs a request less than a second, and never an answer."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from celery import Celery
from kombu.exceptions import OperationalError

from config import env
from config.launch.services import Services
from config.launch.valkey import Valkey
from tests.stack import Stack


def publish_seconds(url: str) -> float:
    """How long a hint takes to fail, with the product's own options."""
    from config import settings as product

    options = product.CELERY_BROKER_TRANSPORT_OPTIONS
    app = Celery("away", broker=url, set_as_current=False)
    app.conf.update(broker_transport_options=options, task_publish_retry=product.CELERY_TASK_PUBLISH_RETRY)
    begun = time.monotonic()
    with pytest.raises(OperationalError):
        app.send_task("nothing", queue="nowhere")
    return time.monotonic() - begun


def test_a_hint_to_nobody_fails_at_once() -> None:
    assert publish_seconds("redis+socket:///nowhere/valkey.sock?virtual_host=0") < 1
    assert publish_seconds("redis://127.0.0.1:1/0") < 1


@pytest.fixture
def valkey(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    """A Valkey of the test's own: the broker's address and its process id."""
    monkeypatch.setenv("DATABASE_URL", "postgresql:///unused")
    monkeypatch.delenv("REDIS_URL", raising=False)
    services = Services(tmp_path / "data", lambda text: None, throwaway=True)
    monkeypatch.setattr(env, "REDIS_URL", services.start()["REDIS_URL"])
    (service, process), *_ = services.running
    assert isinstance(service, Valkey)
    yield env.broker(), process.pid
    os.kill(process.pid, signal.SIGCONT)
    services.stop()


def test_a_hint_to_a_frozen_broker_fails_within_a_second(valkey: tuple[str, int]) -> None:
    broker, pid = valkey
    os.kill(pid, signal.SIGSTOP)
    assert publish_seconds(broker) < 1.5


@pytest.mark.stack
@pytest.mark.fault
def test_pages_answer_while_the_broker_is_frozen(make_stack: Callable[..., Stack]) -> None:
    stack = make_stack().start()
    stack.kill("valkey", signal.SIGSTOP)
    try:
        begun = time.monotonic()
        assert stack.call("GET", "/readyz") == (200, {"status": "degraded", "database": "ok", "broker": "down"})
        assert stack.call("GET", "/accounts/login/")[0] == 200
        assert time.monotonic() - begun < 5
    finally:
        stack.kill("valkey", signal.SIGCONT)
    stack.until(lambda: stack.call("GET", "/readyz")[1]["status"] == "ready", 20, "not ready again")
