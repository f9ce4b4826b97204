"""One loop for all threads, one client for each provider, and nothing paid by those who ask no model."""

import asyncio
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from sessions.contracts import ProviderConfig, ProviderError, TranscriptMessage
from sessions.llm import clients, loop
from sessions.llm.request import request
from tests.llm.asking import HELLO, OPENAI, Vendor
from tests.strict import Fault, Hang, Reply


def test_24_threads_share_one_loop_and_each_gets_its_own_answer(vendor: Vendor) -> None:
    def answer(messages: list[dict[str, Any]]) -> Reply:
        content = messages[-1]["content"]
        return Reply("You said " + (content if isinstance(content, str) else content[0]["text"]))

    with vendor.server(answer) as server, ThreadPoolExecutor(24) as pool:
        asked = [vendor.request_to(server, (TranscriptMessage("user", f"number {n}"),)) for n in range(240)]
        replies = list(pool.map(request, asked))
    assert [reply.text for reply in replies] == [f"You said number {n}" for n in range(240)]
    assert [thread.name for thread in threading.enumerate()].count("layby-models") == 1


def test_a_request_that_hangs_holds_up_no_other(vendor: Vendor) -> None:
    def answer(messages: list[dict[str, Any]]) -> Any:
        return Hang() if "hang" in str(messages[-1]) else "There."

    with vendor.server(answer) as server, ThreadPoolExecutor(8) as pool:
        hanging = vendor.request_to(server, (TranscriptMessage("user", "hang"),), timeout_seconds=2.0)
        stuck = [pool.submit(request, hanging) for _ in range(7)]
        for _ in range(10):
            assert vendor.ask(server, timeout_seconds=1.0).text == "There."
        assert all(isinstance(one.exception(), ProviderError) for one in stuck)


def test_a_coroutine_that_is_not_done_in_time_is_cancelled() -> None:
    ended = threading.Event()

    async def endless() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    with pytest.raises(loop.LoopTimeout):
        loop.run(endless(), timeout=0.05)
    assert ended.wait(5)


def test_a_coroutines_own_error_and_time_out_come_through() -> None:
    async def fail(error: Exception) -> None:
        raise error

    with pytest.raises(ZeroDivisionError):
        loop.run(fail(ZeroDivisionError()), timeout=5)
    with pytest.raises(TimeoutError) as caught:
        loop.run(fail(TimeoutError("own")), timeout=5)
    assert str(caught.value) == "own"


def test_closing_ends_what_runs_and_the_next_request_starts_afresh(vendor: Vendor) -> None:
    with vendor.server([Hang(), "There."]) as server, ThreadPoolExecutor(1) as pool:
        stuck = pool.submit(vendor.ask, server)
        server.wait_for_requests()
        loop.close()
        assert isinstance(stuck.exception(10), ProviderError)
        assert not loop.running()
        assert "layby-models" not in [thread.name for thread in threading.enumerate()]
        assert vendor.ask(server).text == "There."
    loop.close()
    loop.close()  # again: nothing


def test_one_client_for_each_provider_and_key_kept_within_a_bound(vendor: Vendor, monkeypatch) -> None:
    monkeypatch.setattr(clients, "MOST", 3)
    loop.close()
    loop.run(asyncio.sleep(0), timeout=5)
    made = clients.openai_client if vendor is OPENAI else clients.anthropic_client
    first = ProviderConfig(vendor.kind, "http://127.0.0.1:9", "a")
    with clients.in_use(first):
        kept = made(first)
        assert made(ProviderConfig(vendor.kind, "http://127.0.0.1:9", "a")) is kept
        assert made(ProviderConfig(vendor.kind, "http://127.0.0.1:9", "b")) is not kept
        others = [ProviderConfig(vendor.kind, "http://127.0.0.1:9", f"key {n}") for n in range(10)]
        for other in others:
            with clients.in_use(other):
                made(other)
        assert len(clients._made) == 3
        assert made(first) is kept, "one in use is never closed"
        assert kept.max_retries == 0
        assert kept._client.trust_env is False
        assert kept._client.follow_redirects is False
    loop.close()
    assert not clients._made


def test_nothing_of_the_servers_own_environment_reaches_a_provider(vendor: Vendor, monkeypatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "from-the-environment")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
    with vendor.server(["There."]) as server:
        assert vendor.ask(server).text == "There."
        assert "from-the-environment" not in str(server.requests)
        with pytest.raises(ProviderError):
            vendor.ask(server, api_key="")
        assert server.unauthorised == 1


def test_no_redirect_is_followed(vendor: Vendor) -> None:
    with vendor.server(["never"]) as other:
        to = {"location": other.base_url + "/messages"}
        with (
            vendor.server([Fault(307, "Elsewhere.", to)], may_refuse=True) as server,
            pytest.raises(ProviderError) as caught,
        ):
            vendor.ask(server)
        assert other.requests == []
    assert (caught.value.failure, caught.value.retryable) == ("provider_rejected", False)


def test_a_key_no_header_can_hold_is_said_to_be_wrong(vendor: Vendor) -> None:
    with vendor.server() as server:
        for key in ("schlüssel", "line\nbreak", "nul\x00"):
            with pytest.raises(ProviderError) as caught:
                vendor.ask(server, api_key=key)
            assert caught.value.failure == "provider_auth"
        assert server.requests == []


def test_the_child_of_a_fork_has_a_loop_of_its_own() -> None:
    with OPENAI.server(["There.", "There."]) as server:
        OPENAI.ask(server)
        child = os.fork()
        if child == 0:
            try:
                os._exit(0 if OPENAI.ask(server, HELLO, timeout_seconds=10.0).text == "There." else 1)
            except BaseException:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize(
    "module", ["sessions.llm.request", "sessions.llm.retry", "sessions.llm.scripted", "sessions.llm.address"]
)
def test_importing_it_costs_the_web_process_no_model_library(module: str) -> None:
    heavy = "('pydantic_ai', 'openai', 'anthropic', 'httpx2')"
    code = f"import sys, {module}; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
