"""Puts the cast and one session of each sort into a running stack; runs there, as `manage.py shell -c`.

The stack's worker is frozen meanwhile (tests/browser/conftest.py), so this process is the only one that drives: what
it leaves is always the same. It prints one line of JSON: cookies and tokens by name, addresses of pages by name.
"""

import json
from typing import Any
from unittest import mock

from django.conf import settings
from django.test import Client

from sessions.engine import runner, store
from sessions.engine.process import Process
from sessions.models import Session, Worker
from sessions.operations.agents import create_agent
from sessions.operations.providers import create_provider
from sessions.operations.sessions import cancel_session, pause_session, start_session
from workspaces import notify, tokens
from workspaces.actors import SYSTEM, Actor
from workspaces.files import WorkspaceFiles
from workspaces.models import Membership, User, Workspace
from workspaces.operations import create_workspace
from workspaces.roles import Role

CAST = {"ada": Role.ADMIN, "alice": Role.OPERATOR, "bob": Role.APPROVER, "victor": Role.VIEWER}
SCHEMA = {
    "type": "object",
    "required": ["region", "count"],
    "properties": {
        "region": {"enum": ["eu-central", "us-east", "ap-south"], "title": "Region", "description": "Where it runs"},
        "count": {"type": "integer", "minimum": 1, "maximum": 12, "title": "How many machines"},
        "careful": {"type": "boolean", "title": "One after another"},
        "window": {"enum": [f"{hour:02}:00" for hour in range(0, 24, 3)], "title": "Maintenance window"},
        "contact": {"type": "string", "title": "Whom to call", "examples": ["+49 30 1234567"]},
        "hosts": {"type": "array", "items": {"type": "string"}, "title": "Hosts to leave out"},
        "labels": {"type": "object", "title": "Labels"},
    },
}
QUESTIONS = [
    {
        "question": "When should the release go out?",
        "header": "When",
        "options": [
            {"label": "Tonight", "description": "Few people are online"},
            {"label": "Tomorrow morning", "description": "Everybody is there to help"},
        ],
    },
    {
        "question": "Who should be told beforehand?",
        "header": "Who",
        "multi_select": True,
        "options": [{"label": "Support"}, {"label": "Customers", "description": "A line on the status page"}],
    },
]
PROMPT = """Which name should the report have: **report-july.md** or `2026-07-report.md`?

- the first reads better
- the second sorts better"""
LOOK = {"tool": "workspace__list_files", "arguments": {"path": ""}}
EDIT = {
    "tool": "workspace__edit_file",
    "arguments": {"path": "notes/deploy.md", "old": "replicas: 3", "new": "replicas: 5"},
}
ALL = ["system", "workspace"]


def ask(prompt: str = PROMPT, **more: Any) -> dict[str, Any]:
    return {"tool": "system__ask_user", "arguments": {"prompt": prompt, **more}}


# name -> (agent's name, task, script, what else the agent's definition says)
SESSIONS: dict[str, tuple[str, str, list[dict[str, Any]], dict[str, Any]]] = {
    "completed": (
        "File keeper",
        "List what lies here and tell me what it is",
        [
            {"say": "I'll look first.", "calls": [LOOK]},
            {"calls": [{"tool": "system__inform_user", "arguments": {"message": "I looked through the files."}}]},
            {"say": "There are **two folders**:\n\n1. `notes`\n2. `reports`"},
        ],
        {},
    ),
    "failed": (
        "Endless",
        "Go on until somebody stops you",
        [{"calls": [LOOK]}, {"calls": [LOOK]}, {"calls": [LOOK]}],
        {"limits": {"model_calls": 2}},
    ),
    "cancelled": ("Asker", "Ask about something nobody wants to know", [{"calls": [ask("Shall I?")]}], {}),
    "paused": ("Asker", "Wait until Monday", [{"calls": [ask("Is it Monday?")]}], {}),
    "attention": ("Asker", "Use the tool that was removed", [{"calls": [ask("Shall I use it?")]}], {}),
    "options": (
        "Release planner",
        "Plan the release of version 4.2",
        [
            {
                "say": "Two things I can't know.",
                "calls": [{"tool": "system__ask_question", "arguments": {"questions": QUESTIONS}}],
            },
            {"say": "Thank you."},
        ],
        {"suspension": {"may_ask_questions": True}},
    ),
    "schema": (
        "Scaler",
        "Scale the cluster for the weekend, and make sure that nobody who is on call is woken by it",
        [{"calls": [ask("How shall I scale?", response_schema=SCHEMA)]}, {"say": "Scaled: {{ result }}"}],
        {},
    ),
    "several": (
        "Asker",
        "Ask two things at once",
        [{"calls": [ask("Red or blue?"), ask("Left or right?")]}, {"say": "Good."}],
        {},
    ),
    "text": (
        "File chooser",
        "Decide which of these two filenames you prefer and create the file",
        [
            {"say": "I'll look at what is there before I choose.", "calls": [LOOK]},
            {"say": "Both names would do, so this is a *matter of taste*.", "calls": [ask()]},
            {"say": "You said {{ result }}"},
        ],
        {},
    ),
}


class Died(BaseException):
    """As if the process had been killed in the middle of a body."""


def seed() -> None:
    """Make all of it and print where it is."""
    admin = Actor.for_user(User.objects.get(username="admin"))
    acme = create_workspace(admin, "acme", "Acme")
    create_workspace(admin, "quiet", "Quiet")
    cookies = {"admin": _cookie(User.objects.get(username="admin"))}
    for name, role in CAST.items():
        user = User.objects.create_user(name, f"{name}@example.org")
        Membership.objects.create(workspace=acme, user=user, role=role, created_by=SYSTEM.as_json())
        cookies[name] = _cookie(user)
    alice = Actor.for_user(User.objects.get(username="alice"))
    _files()
    create_provider(admin, acme, "house-model", "openai", "http://127.0.0.1:9/v1", "not-a-key")
    notify.inform(acme, "The nightly import has 3 rows fewer than yesterday.")
    pages = _sessions(acme, alice)
    print(
        json.dumps(
            {
                "cookies": cookies,
                "tokens": {role.value: tokens.issue(acme, role, f"tests-{role}", SYSTEM)[1] for role in Role},
                "sessions": {name: str(id_) for name, id_ in pages.items()},
            }
        )
    )


def _cookie(user: User) -> str:
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client.cookies[settings.SESSION_COOKIE_NAME].value


def _files() -> None:
    files = WorkspaceFiles("acme")
    files.write("notes/deploy.md", b"# Deploy\n\nreplicas: 3\nwhen: never on a Friday\n")
    files.write("reports/2026-07.csv", b"day,rows\n" + b"".join(b"%d,%d\n" % (n, n * 997) for n in range(1, 32)))
    files.write("logo.png", b"\x89PNG\r\n\x1a\n\0\0\0")
    files.write("a-name-that-is-so-long-that-no-phone-shows-it-in-one-line-and-no-list-may-break-over-it.txt", b"x\n")
    files.write("reports/everything.log", b"".join(b"%06d one line of a long log\n" % n for n in range(60_000)))


def _sessions(acme: Workspace, alice: Actor) -> dict[str, Any]:
    process, heir = Process(1), Process(1)
    process.beat()
    found = {
        "unknown": _start(
            acme, alice, "unknown", "Operator", "Raise the replicas", [{"calls": [EDIT]}, {"say": "ok"}], {}
        )
    }
    with mock.patch.object(WorkspaceFiles, "edit", side_effect=Died):
        try:
            runner.work(process)
        except Died:
            Worker.objects.filter(pk=process.boot_id).update(alive_until="2000-01-01T00:00:00Z")
    heir.beat()
    for session, boot in store.stranded([process.boot_id]):
        store.reclaim(session, boot)
    for name, (agent, task, script, more) in SESSIONS.items():
        found[name] = _start(acme, alice, name, agent, task, script, more)
        runner.work(heir)
    runner.work(heir)
    cancel_session(alice, Session.objects.get(pk=found["cancelled"]), "Nobody wants to know.")
    pause_session(alice, Session.objects.get(pk=found["paused"]))
    Session.objects.filter(pk=found["attention"]).update(
        attention={
            "code": "missing_tool",
            "message": "The tool ops__restart is not installed any more, and the session called it before it stopped.",
            "since": "2026-01-01T00:00:00+00:00",
        }
    )
    heir.leave()
    return found


def _start(acme: Workspace, alice: Actor, slug: str, name: str, task: str, script: Any, more: dict[str, Any]) -> Any:
    definition = {"model": "scripted:test", "tools": ALL, "script": script, **more}
    create_agent(SYSTEM, acme, slug, name, definition)
    return start_session(alice, acme, slug, task)[0].pk
