"""Journal entries as `_timeline_item.html` shows them: one sentence each, and the data as it is. Pure."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from sessions.engine.journal import KINDS
from sessions.present.display import indented, one_line, short_id, shortened, visible
from sessions.present.words import is_person, name_of, span
from sessions.queries.conversation import JournalItem
from sessions.queries.status import WAITS_FOR

_NAMED = frozenset({*(kind for kind in KINDS if kind.startswith("call.")), "model.replied"}) - {"call.unknown"}
_WAYS = {
    "answered": "was answered",
    "approved": "was approved",
    "rejected": "was rejected",
    "fired": "ended: it happened",
    "timed_out": "ended at its deadline",
    "cancelled": "was cancelled",
}


def item(entry: JournalItem) -> dict[str, Any]:
    """One entry. `actor` is "" for what the system did by itself."""
    say = _SAY.get(entry.kind)
    data = entry.data if isinstance(entry.data, dict) else {"data": entry.data}
    text = say(data) if say else KINDS.get(entry.kind, entry.kind)
    return {
        "seq": entry.seq,
        "kind": entry.kind,
        "at": entry.at,
        "actor": name_of(entry.actor) if is_person(entry.actor) else "",
        # A name stays as it is written.
        "text": text if entry.kind in _NAMED else f"{text[:1].upper()}{text[1:]}",
        "data": visible(shortened(indented(json.dumps(data, ensure_ascii=False)))) if data else "",
    }


def _tool(data: Mapping[str, Any]) -> str:
    named = one_line(str(data.get("tool") or ""), 120)
    return named or f"call {short_id(data.get('call', ''))}"


def _wait(data: Mapping[str, Any]) -> str:
    return WAITS_FOR.get(str(data.get("kind")), "something outside")


def _parked(data: Mapping[str, Any]) -> str:
    waits = data.get("waits") or []
    return f"parked with {len(waits)} open wait{'' if len(waits) == 1 else 's'}, no worker is held"


def _replied(data: Mapping[str, Any]) -> str:
    calls, ms = data.get("calls") or [], data.get("ms")
    asks = f", asks for {len(calls)} tool call{'' if len(calls) == 1 else 's'}" if calls else ""
    took = f" after {span(ms / 1000)}" if isinstance(ms, int | float) else ""
    return f"{one_line(str(data.get('model') or 'the model'), 80)} replied{took}{asks}"


def _because(data: Mapping[str, Any]) -> str:
    why = str(data.get("why") or "")
    words = {
        "worker_died": "its worker died; it goes on from the last thing recorded",
        "worker_stopping": "its worker is being stopped and gave it back",
        "retried": "it can go on",
        "resumed": "it can go on",
    }
    return words.get(why, "what it waited for is there; it can go on")


def _reason(words: str, field: str = "reason") -> Callable[[Mapping[str, Any]], str]:
    def say(data: Mapping[str, Any]) -> str:
        why = one_line(str(data.get(field) or ""), 200)
        return f"{words}: {why}" if why else words

    return say


_SAY: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "session.queued": lambda data: "queued again" if data.get("why") else "started",
    "session.parked": _parked,
    "session.resumable": _because,
    "session.paused": lambda data: "asked to pause at the next safe point" if data.get("asked") else "paused",
    "session.resumed": lambda data: "resumed",
    "session.completed": lambda data: "completed",
    "session.failed": _reason("failed"),
    "session.cancelled": _reason("cancelled"),
    "session.abandoned": _reason("abandoned"),
    "session.attention": _reason("set aside until a person acts", "message"),
    "model.replied": _replied,
    "model.retried": _reason("the provider failed and is tried again", "message"),
    "call.started": lambda data: f"{_tool(data)} began",
    "call.succeeded": lambda data: f"{_tool(data)} ended well",
    "call.failed": lambda data: f"{_tool(data)} ended with an error result",
    "call.rejected": lambda data: f"{_tool(data)} was refused",
    "call.timed_out": lambda data: f"{_tool(data)} waited until its deadline",
    "call.cancelled": lambda data: f"{_tool(data)} was cancelled",
    "call.unknown": lambda data: f"nobody knows how {_tool(data)} ended: a person is asked",
    "call.rerun": lambda data: f"{_tool(data)} is run again",
    "wait.opened": lambda data: f"waits for {_wait(data)}",
    "wait.closed": lambda data: f"the wait for {_wait(data)} {_WAYS.get(str(data.get('outcome')), 'ended')}",
    "wait.late": lambda data: "an answer came too late: kept, not delivered",
    "message.queued": lambda data: "a message for the next turn",
    "message.taken": lambda data: "the agent read the message",
}
