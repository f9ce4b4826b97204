"""Real wire formats: a fault is retried within the limit or ends the session with a reason; what is done stays done."""

import pytest

from sessions.llm import retry
from sessions.models import JournalEntry, Session
from sessions.operations.agents import create_agent
from sessions.operations.answers import answer
from sessions.operations.providers import create_provider
from sessions.operations.sessions import cancel_session, retry_session, start_session
from tests.sessions import toolset
from tests.sessions.conftest import journal, loads, results, state, the_wait, work
from tests.strict.anthropic_server import StrictAnthropic
from tests.strict.openai_server import StrictOpenAI
from tests.strict.plan import Call, ContextTooLong, Cut, Fault, RateLimited, Reply, ServerError
from workspaces.actors import SYSTEM

pytestmark = pytest.mark.django_db(transaction=True)

SERVERS = {"openai": StrictOpenAI, "anthropic": StrictAnthropic}


@pytest.fixture(params=sorted(SERVERS))
def talk(request, acme, monkeypatch):
    """Start a session of an agent on a strict server that plays a script; `talk.server` after it."""
    monkeypatch.setattr(retry, "pause", lambda failed, retry_after=None: 0.0)
    servers = []

    def starts(script, key=None, **more):
        server = SERVERS[request.param](script).__enter__()
        servers.append(server)
        create_provider(SYSTEM, acme, "strict", request.param, server.base_url, key or server.api_key)
        definition = {"model": "strict:some-model", "tools": ["system", "workspace", "test"], **more}
        create_agent(SYSTEM, acme, "agent", "Agent", definition)
        starts.server = server
        return start_session(SYSTEM, acme, "agent", "Do it.")[0]

    yield starts
    for server in servers:
        server.__exit__(None)


def failure(session):
    row = Session.objects.select_related("text").get(pk=session.pk)
    return row.failure_code, row.text.failure_message


def test_the_whole_way_with_a_question_and_a_file(talk, worker, alice_actor):
    ask = Reply("A matter of taste.", [Call("system__ask_user", {"prompt": "Which?"})])
    write = Reply(calls=[Call("workspace__write_file", {"path": "a.md", "content": "x"})])
    session = talk([ask, write, "Done."])
    work(worker)
    answer(alice_actor, session, "a.md")
    work(worker)
    assert state(session) == "completed"
    assert [s for _, s, _ in results(session)] == ["succeeded", "succeeded"]


@pytest.mark.parametrize(
    "fault", [RateLimited("1"), ServerError(500), ServerError(503), Cut(1), Cut(2, clean=True), Reply()]
)
def test_a_passing_fault_is_retried_and_the_tools_before_it_ran_once(talk, worker, fault):
    session = talk([Reply(calls=[Call("test__once")]), fault, fault, "Done."])
    work(worker)
    assert state(session) == "completed", failure(session)
    assert len(toolset.RAN) == 1
    assert journal(session).count("model.retried") == 2
    assert len(talk.server.requests) == 4


def test_a_wrong_key_ends_it_with_a_reason_and_never_shows_the_key(talk, worker):
    session = talk(["never"], key="sk-wrong-key-000111222333")
    work(worker)
    code, message = failure(session)
    assert state(session) == "failed" and code == "provider_auth"
    assert "key" in str(message)
    told = str(message) + "".join(JournalEntry.objects.filter(session=session).values_list("data", flat=True))
    assert "sk-wrong" not in told and "000111222333" not in told
    assert "model.retried" not in journal(session)


def test_a_provider_that_stays_down_ends_it_after_the_limit_and_a_retry_goes_on_from_there(talk, worker, alice_actor):
    script = [Reply(calls=[Call("test__once")]), *[ServerError(503)] * 3, "Done."]
    session = talk(script, limits={"provider_retries": 2})
    work(worker)
    assert (state(session), failure(session)[0]) == ("failed", "provider_unavailable")
    retry_session(alice_actor, Session.objects.select_related("workspace").get(pk=session.pk))
    work(worker)
    assert state(session) == "completed"
    assert len(toolset.RAN) == 1 and failure(session) == (None, None)


def test_a_history_too_long_waits_for_attention_and_does_not_loop(talk, worker):
    session = talk([Reply(calls=[Call("test__once")]), ContextTooLong()])
    work(worker)
    row = Session.objects.get(pk=session.pk)
    assert (row.state, row.attention["code"]) == ("parked", "context_too_long")
    assert work(worker) == 0 and len(talk.server.requests) == 2


def test_a_model_that_does_not_exist_ends_it(talk, worker):
    session = talk([Fault(404, "The model does not exist.", code="model_not_found", kind="not_found_error")])
    work(worker)
    assert (state(session), failure(session)[0]) == ("failed", "provider_unknown")


def test_broken_arguments_doubled_ids_and_unknown_tools_get_results_and_the_transcript_stands(talk, worker):
    calls = [
        Call("test__once", '{"a": 1,', id="same"),
        Call("test__again", "[1]", id="same"),
        Call("Test__Once", {}, id=""),
        Call("test__once", {}, id="x" * 500),
    ]
    session = talk([Reply("Four at once.", calls), Reply(calls=[Call("test__again", {}, id="same")]), "Done."])
    work(worker)
    assert [s for _, s, _ in results(session)] == ["failed", "failed", "failed", "succeeded", "succeeded"]
    assert state(session) == "completed" and len(toolset.RAN) == 2


def test_after_a_cancel_in_the_middle_of_a_turn_the_transcript_still_stands(talk, worker, alice_actor):
    ask = [Call("test__once"), Call("system__ask_user", {"prompt": "?"}), Call("test__again")]
    session = talk([Reply("Three.", ask), "After all."])
    work(worker)
    cancel_session(alice_actor, session, "wait")
    retry_session(alice_actor, Session.objects.select_related("workspace").get(pk=session.pk))
    work(worker)
    assert state(session) == "completed"
    assert [s for _, s, _ in results(session)] == ["succeeded", "cancelled", "cancelled"]


def test_a_reply_that_looks_odd_is_kept_whole(talk, worker, alice_actor):
    script = [Reply("A\x00B \ud83d", [Call("system__ask_user", {"prompt": "Null \x00?"})]), "Done."]
    session = talk(script)
    work(worker)
    assert loads(the_wait(session).shown)["prompt"] == "Null \u2400?"
    answer(alice_actor, session, "ok")
    work(worker)
    assert state(session) == "completed"
