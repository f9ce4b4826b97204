"""What tests of the console share: sessions that wait, browsers of the cast, and pages as parsed HTML."""

from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from sessions.engine.process import Process
from sessions.models import Session
from tests.sessions.conftest import make_agent, start, test_tools, work, worker

__all__ = ["make_agent", "start", "test_tools", "worker"]

HTMX = {"HX-Request": "true"}
QUESTION: dict[str, Any] = {"tool": "system__ask_user", "arguments": {"prompt": "Which name?"}}


def asking(prompt: str = "Which name?", **more: Any) -> list[dict[str, Any]]:
    """A script that asks and then says what it was told."""
    ask = {"tool": "system__ask_user", "arguments": {"prompt": prompt, **more}}
    return [{"say": "A matter of taste.", "calls": [ask]}, {"say": "You said {{ result }}"}]


@pytest.fixture
def waiting(start: Callable[..., Session], worker: Process) -> Callable[..., Session]:
    """A session that was driven until it waits (or has ended)."""

    def make(script: list[dict[str, Any]] | None = None, **more: Any) -> Session:
        session = start(script or asking(), **more)
        work(worker)
        return Session.objects.select_related("workspace", "text", "version__agent").get(pk=session.pk)

    return make


def page_of(session: Session, more: str = "") -> str:
    """The address of a session's page, or of something below it."""
    return f"/w/{session.workspace.slug}/sessions/{session.pk}/{more}"


class Elements(HTMLParser):
    """Every element of a page with its attributes, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def ids(self) -> list[str]:
        return [attrs["id"] or "" for _, attrs in self.found if "id" in attrs]


def text_of(response: HttpResponse) -> str:
    """What a response says."""
    return response.content.decode()


def get(client: Client, path: str, status: int = 200) -> str:
    """A page's HTML; asserts its status."""
    response = client.get(path)
    assert response.status_code == status, (response.status_code, response.content[:500])
    return text_of(response)
