"""A session's title, state and facts; and its row in a list. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sessions.models import Session
from sessions.present.cards import waits_for
from sessions.present.display import one_line, short_id, visible
from sessions.present.words import is_person, name_of, span
from sessions.queries.documents import failure_of
from sessions.queries.page import Facts
from sessions.states import ENDED, State


def header(session: Session, facts: Facts, waits: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What `_header.html`, `_now.html`, `_why.html` and `_actions.html` know of a session."""
    state, version = State(session.state), session.version
    parked_at = facts.parked_at if state is State.PARKED else None
    return {
        "id": str(session.pk),
        "short_id": short_id(session.pk),
        "title": title_of(session.text.title),
        "state": session.state,
        "waits_for": waits_for(waits),
        "agent_slug": version.agent.slug,
        "agent_name": one_line(version.agent.name or version.agent.slug, 120),
        "version_number": version.number,
        "version_short": version.digest[:6],
        "started_by": name_of(session.started_by),
        "started_at": session.created_at,
        "ended_at": session.ended_at,
        "model_calls": facts.model_calls,
        "tool_calls": facts.tool_calls,
        "running": span(facts.running) + ("" if facts.whole else " since the last wake"),
        "parked": span(facts.parked) if facts.parked >= 1 else "",
        "parked_at": parked_at,
        "paused_by": name_of(facts.paused_by) if is_person(facts.paused_by) else "",
        "pause_requested": session.pause_requested,
        "is_over": state in ENDED,
        "retryable": state in (State.FAILED, State.CANCELLED),
        "attention": attention(session.attention),
        "failure": failure(failure_of(session)),
    }


def row(document: Mapping[str, Any]) -> dict[str, Any]:
    """One session of a list, for `_row.html`, from its document."""
    return {
        "id": document["id"],
        "title": title_of(document["title"]),
        "state": document["state"],
        "agent": document["agent"],
        "started_by": name_of(document["started_by"]),
        "started_at": document["created_at"],
        "ended_at": document["ended_at"],
        "attention": attention(document["attention"]),
        "waits_for": waits_for(document["waiting"]),
        "needs_person": document["needs_person"],
        "asks": one_line(document["asks"], 160),
        "deadline_at": document["deadline_at"],
        "failure": failure(document["failure"]),
    }


def title_of(title: str) -> str:
    """A title on one line with nothing hidden in it; it is never empty."""
    return one_line(title, 200) or "Session"


def attention(found: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Why a session is set aside, with the moment as one."""
    if found is None:
        return None
    since = str(found.get("since") or "")
    return {
        "code": str(found.get("code") or ""),
        "message": visible(str(found.get("message") or "")),
        "since": datetime.fromisoformat(since) if since else None,
    }


def failure(found: Mapping[str, str] | None) -> dict[str, str] | None:
    """Why a session ended, if a reason was given."""
    if found is None or not found["message"]:
        return None
    return {"code": found["code"], "message": visible(found["message"])}
