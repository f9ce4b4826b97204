"""The main job over HTTP by an API token, with an agent on a model provider that is as strict as the big ones."""

import time
from typing import Any

import pytest

from tests.shows.conftest import Caller
from tests.stack import Stack
from tests.strict import Call, Reply, StrictAnthropic, StrictOpenAI

pytestmark = pytest.mark.stack

TASK = "Decide which of these two filenames you prefer and create the file"
NAME = "report-july.md"
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def script(folder: str) -> list[Reply]:
    """Two calls in a turn, text beside calls, a wait with a schema, an options' question beside a file, an end."""
    ask = Call("system__ask_user", {"prompt": "Which name?", "response_schema": SCHEMA})
    questions = [{"question": "Sure?", "header": "Sure", "options": [{"label": "Yes"}, {"label": "No"}]}]
    return [
        Reply(
            "I'll look first.",
            [Call("workspace__list_files", {"path": ""}), Call("system__get_datetime", {"timezone": "Europe/Berlin"})],
        ),
        Reply("A matter of taste.", [ask]),
        Reply(
            calls=[
                Call("workspace__write_file", {"path": f"{folder}/{NAME}", "content": "Grüße, July.\n"}),
                Call("system__ask_question", {"questions": questions}),
            ]
        ),
        Reply("The file is written."),
    ]


@pytest.mark.parametrize("kind,vendor", [("openai", StrictOpenAI), ("anthropic", StrictAnthropic)])
def test_the_walk(
    stack: Stack, admin: Caller, operator: Caller, kind: str, vendor: type[StrictOpenAI | StrictAnthropic]
) -> None:
    caller = operator
    slug = f"strict-{kind}"
    with vendor(script(slug), api_key=f"key-of-{kind}-0123456789") as server:
        provider = {"slug": slug, "kind": kind, "base_url": server.base_url, "api_key": server.api_key}
        made = admin("POST", "/model-providers", provider, 201)
        assert server.api_key not in str(made)
        agent = {
            "slug": slug,
            "name": "Chooser",
            "model": f"{slug}:a-model",
            "system_prompt": "You ask when a choice is a matter of taste.",
            "tools": ["system", "workspace"],
            "suspension": {"may_ask_questions": True},
        }
        assert admin("POST", "/agents", agent, 201)["number"] == 1
        session = caller("POST", "/sessions", {"agent": slug, "input": TASK}, 201)["id"]

        waiting = caller.until(session, "parked")["waiting"]
        pending = caller("GET", f"/sessions/{session}/ask_user/pending")
        assert [wait["id"] for wait in waiting] == [pending["yield"]]
        assert (pending["prompt"], pending["response_schema"]) == ("Which name?", SCHEMA)
        respond = f"/sessions/{session}/ask_user/respond"
        answer = {"tool_call_id": pending["tool_call_id"], "response": {"name": NAME}, "by": "Grace of the night shift"}
        assert caller("POST", respond, {**answer, "response": NAME}, 422)["code"] == "schema_violation"
        caller("POST", respond, answer, 202)
        assert caller("POST", respond, answer, 409)["code"] == "already_answered"

        second = stack.until(lambda: _pending(caller, session, pending["yield"]), 40, "no second question")
        assert second["questions"][0]["question"] == "Sure?"
        caller("POST", respond, {"yield": second["yield"], "response": {"answer": "Yes"}}, 202)

        done = caller.until(session, "completed")
        assert done["output"] == "The file is written." and done["waiting"] == []
        assert caller("GET", f"/files/{slug}/{NAME}") == "Grüße, July.\n"
        assert [entry["path"] for entry in caller("GET", f"/files?path={slug}")["items"]] == [f"{slug}/{NAME}"]

        roles = [message["role"] for message in caller("GET", f"/sessions/{session}/messages")["items"]]
        assert roles == [
            "user",
            "assistant",
            "tool",
            "tool",
            "assistant",
            "tool",
            "assistant",
            "tool",
            "tool",
            "assistant",
        ]
        assert server.refusals == [] and server.unauthorised == 0 and len(server.requests) == 4
        # What was parked comes back as an ordinary result: nothing of the park is in what the model saw.
        assert "yield" not in str(server.bodies[-1]["messages"]) and "parked" not in str(server.bodies[-1]["messages"])
        journal = caller("GET", f"/sessions/{session}/journal")["items"]
        assert [entry["seq"] for entry in journal] == list(range(1, len(journal) + 1))
        assert "Grace of the night shift" in str(journal) and server.api_key not in str(journal)


def _pending(caller: Caller, session: str, before: str) -> Any:
    status, said = caller.stack.call("GET", f"/api/sessions/{session}/ask_user/pending", token=caller.token)
    if status != 200 or said["yield"] == before:
        time.sleep(0.1)
        return None
    return said
