"""Keys of providers, tokens and passwords: used in every way that fails and works, then looked for everywhere.

Each secret has a mark in its middle that is nowhere else; a hit is the mark in clear, whatever is around it.
"""

import base64
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.shows.conftest import Caller
from tests.shows.console import Console
from tests.stack import Stack
from tests.strict import StrictOpenAI
from tests.strict.plan import Fault
from tests.strict.server import Seen

pytestmark = pytest.mark.stack


def mark() -> str:
    return f"c{secrets.token_hex(10)}"


MARKS = {name: mark() for name in ("openai", "anthropic", "cloud", "uri", "pem", "jwt", "cookie", "word", "accents")}
KEYS = {
    "openai": f"sk-proj-{MARKS['openai']}-T3BlbkFJ0123456789",
    "anthropic": f"sk-ant-api03-{MARKS['anthropic']}-AAAA",
    "cloud": f"AKIA{MARKS['cloud'].upper()}",
    "uri": f"postgresql://user:{MARKS['uri']}@db.internal:5432/app?sslmode=require",
    "pem": f"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n{MARKS['pem']}\n-----END PRIVATE KEY-----",
    "jwt": f"eyJhbGciOiJIUzI1NiJ9.{MARKS['jwt']}.c2lnbmF0dXJl",
    "cookie": f"session={MARKS['cookie']}; Path=/; HttpOnly",
    "word": f"grapefruit  {MARKS['word']}  marmalade",
    "accents": f"clé-{MARKS['accents']}-ü",
}
MARKS["cloud"] = MARKS["cloud"].upper()
# What a vendor answers, by the model that is asked for; each repeats the key, as some do.
SAYS = {
    "refuses": lambda key: Fault(401, f"Incorrect API key provided: {key}.", code="invalid_api_key"),
    "forbids": lambda key: Fault(403, f"The key {key} may not use this model."),
    "rejects": lambda key: Fault(400, f"Bad request by {key}: no such parameter."),
    "breaks": lambda key: Fault(500, f"Traceback: Authorization: Bearer {key}"),
}
PAGES = (
    "/w/demo/providers/",
    "/w/demo/agents/",
    "/w/demo/sessions/",
    "/w/demo/",
    "/w/demo/tokens/",
    "/w/demo/members/",
    "/admin/agent_sessions/provider/",
    "/admin/workspaces/apitoken/",
    "/admin/workspaces/user/",
    "/no/such/page",
)
Found = dict[str, str]


class Indiscreet(StrictOpenAI):
    """Takes any key; answers with it in every way that fails."""

    def answer(self, handler: Any, seen: Seen) -> None:
        key, model = self.key_in(seen.headers), seen.body["model"]
        if model in SAYS:
            return handler.error(self, SAYS[model](key))
        self.api_key = key
        return super().answer(handler, seen)


@pytest.fixture(scope="module")
def used(stack: Stack, admin: Caller) -> Iterator[Found]:
    """What API and pages say after each key was used by sessions that failed in each way and one that worked."""
    said: Found = {}
    with Indiscreet(lambda _: "It worked.", may_refuse=True) as server:
        sessions = {}
        for name, key in KEYS.items():
            provider = {"slug": f"secret-{name}", "kind": "openai", "base_url": server.base_url, "api_key": key}
            said[f"made {name}"] = str(stack.call("POST", "/api/model-providers", provider, admin.token))
            for model in (*SAYS, "works"):
                slug = f"secret-{name}-{model}"
                agent = {
                    "slug": slug,
                    "name": slug,
                    "model": f"secret-{name}:{model}",
                    "system_prompt": "",
                    "tools": [],
                }
                made = stack.call("POST", "/api/agents", {**agent, "limits": {"provider_retries": 0}}, admin.token)
                assert made[0] == 201, made
                sessions[name, model] = admin("POST", "/sessions", {"agent": slug, "input": "Go."}, 201)["id"]
        for (name, model), session in sessions.items():
            done = admin.until(session, "completed", "failed")
            sendable = name not in ("pem", "accents")  # no header can carry those
            assert done["state"] == ("completed" if model == "works" and sendable else "failed"), (name, done)
            said[f"session {name} {model}"] = str(done)
            for more in ("messages", "journal", "yields", "status"):
                said[f"{more} {name} {model}"] = str(admin("GET", f"/sessions/{session}/{more}"))
        assert server.refusals == []
    for path in ("model-providers", "agents", "sessions", "inbox", "workers", "members", "tokens"):
        said[f"api {path}"] = str(admin("GET", f"/{path}"))
    said |= _wrong(stack, admin)
    said |= _console(stack, sessions)
    yield said


def _wrong(stack: Stack, admin: Caller) -> Found:
    """Requests that are wrong and have a key in them."""
    key = KEYS["openai"]
    good = {"slug": "secret-openai", "kind": "openai", "api_key": key}
    bodies = [good, {**good, "api_key": [key]}, {**good, "key": key}, {**good, "slug": key}, {**good, "base_url": key}]
    answers = [stack.call("POST", "/api/model-providers", body, admin.token) for body in bodies]
    answers.append(stack.call("PUT", "/api/model-providers/secret-openai", {"api_key": {"a": key}}, admin.token))
    answers.append(stack.call("GET", "/api/sessions", token=admin.token + "x"))
    assert [status for status, _ in answers] == [409, 422, 422, 422, 422, 422, 401]
    return {f"wrong {number}": str(said) for number, (_, said) in enumerate(answers)}


def _console(stack: Stack, sessions: dict[tuple[str, str], str]) -> Found:
    console, said = Console(stack), {}
    assert console.sign_in("admin", MARKS["word"])[0] == 200  # a wrong password is not sent back
    said["login refused"] = console.sign_in("admin", f"wrong-{MARKS['uri']}")[1]
    assert 'name="password"' in said["login refused"]
    status, _ = console.sign_in("admin", stack.admin_password)
    assert status == 200
    for path in PAGES:
        said[f"page {path}"] = console.get(path)[1]
    for name in KEYS:
        said[f"provider {name}"] = console.get(f"/w/demo/providers/secret-{name}/")[1]
    for (name, model), session in sessions.items():
        if name in ("openai", "pem", "word", "accents"):
            for more in ("", "?tab=timeline"):
                said[f"page {name} {model}{more}"] = console.get(f"/w/demo/sessions/{session}/{more}")[1]
    new = {"slug": "NO GOOD", "kind": "openai", "base_url": "nowhere", "api_key": KEYS["openai"]}
    status, said["form refused"] = console.post("/w/demo/new-provider/", new)
    assert status in (200, 422) and "NO GOOD" in said["form refused"]
    login = {"new-username": "carol", "new-password": f"Pw-{MARKS['jwt']}", "new-role": "operator"}
    said["login made"] = console.post("/w/demo/new-member/", login, form="/w/demo/members/")[1]
    assert "carol" in said["login made"]
    return said


def hits(text: str | bytes, marks: dict[str, str]) -> list[str]:
    """The marks that stand in *text*, in clear or in base64."""
    data = text if isinstance(text, bytes) else text.encode()
    found = []
    for name, value in marks.items():
        raw = value.encode()
        # base64 of it at each of the three places it can have in a longer text, without the ends that depend on it
        coded = [base64.b64encode(b"x" * lead + raw)[4 if lead else 0 : -4] for lead in range(3)]
        if raw in data or raw.lower() in data or any(one in data for one in coded):
            found.append(name)
    return found


def test_the_search_finds_what_is_there() -> None:
    assert hits(f"x{MARKS['pem']}y", MARKS) == ["pem"]
    for lead in ("", "a", "ab", "abc"):
        assert hits(base64.b64encode(f"{lead}{MARKS['jwt']} and more".encode()), MARKS) == ["jwt"]


def test_no_answer_and_no_page_says_a_key(used: Found) -> None:
    assert {where: found for where, text in used.items() if (found := hits(text, MARKS))} == {}


def test_a_person_is_told_what_is_wrong_all_the_same(used: Found) -> None:
    assert "refused the API key" in used["session openai refuses"]
    assert "Bad request by [key]: no such parameter." in used["session word rejects"]
    assert "provider" in used["session pem works"] and "Traceback" not in used["session pem works"]


def test_nothing_that_is_stored_or_logged_has_a_secret_in_clear(
    used: Found, stack: Stack, admin: Caller, operator: Caller, tmp_path: Path
) -> None:
    wanted = {
        **MARKS,
        "admin's token": admin.token[8:],
        "operator's token": operator.token[8:],
        "admin's password": stack.admin_password,
    }
    code = f"from tests.shows.dump import dump; dump({str(tmp_path)!r})"
    tables = int(stack.manage("shell", "--no-imports", "-c", code))
    assert tables > 20
    texts = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert any(b"It worked." in text for text in texts.values()), "what may be there is there"
    found = {name: hits(text, wanted) for name, text in texts.items()}
    assert {name: marks for name, marks in found.items() if marks} == {}
    providers = (tmp_path / "public.agent_sessions_provider").read_text()
    assert len(re.findall(r"\tsecret-\w+\t.*gAAAA", providers)) == len(KEYS), "encrypted, in its one column"

    assert hits(stack.log, wanted) == []
    files = {path: path.read_bytes() for path in stored(stack.data)}
    assert any(b"It worked." in data for data in files.values()), "the database's own files were read"
    assert {str(path): marks for path, data in files.items() if (marks := hits(data, wanted))} == {}


def stored(folder: Path) -> Iterator[Path]:
    """Every file of the data folder but the collected static ones."""
    for base, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in ("static", "sockets")]
        for name in names:
            path = Path(base) / name
            if path.is_file() and not path.is_symlink():
                yield path
