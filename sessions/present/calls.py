"""A tool call as `_call.html` shows it. Pure."""

import json
from typing import Any

from django.urls import reverse

from sessions.models import Call
from sessions.present.display import indented, one_line, shortened, visible
from sessions.present.words import span
from sessions.states import OPEN_CALLS


def call(row: Call, workspace: str) -> dict[str, Any]:
    """One call: its arguments as they ran, its result as the model read it; long ones keep head and tail."""
    return {
        "id": str(row.pk),
        "tool": one_line(row.tool, 120),
        "status": row.status,
        "took": _took(row),
        "arguments": shown_json(row.arguments),
        "result": None if row.result is None else shown_json(row.result),
        "note": _note(row),
        "whole": _whole(row, workspace),
    }


def shown_json(text: str) -> str:
    """JSON objects and lists indented with every value as it was written; any other text as it is."""
    stripped = text.strip()
    if stripped[:1] in ("{", "[") and len(stripped) <= 200_000 and _parses(stripped):
        text = indented(stripped)
    return visible(shortened(text))


def _parses(text: str) -> bool:
    try:
        json.loads(text, parse_int=str, parse_float=str)  # as text: no number is too long to look at
    except (ValueError, RecursionError):
        return False
    return True


def _took(row: Call) -> str:
    if row.started_at is None or row.ended_at is None:
        return ""
    return span((row.ended_at - row.started_at).total_seconds())


def _note(row: Call) -> str:
    words = []
    if row.attempt > 1:
        words.append(f"Attempt {row.attempt}.")
    if row.blob is not None:
        words.append("The model read this shortened result; the whole is kept.")
    if row.status in OPEN_CALLS and row.effect == "destructive":
        words.append("Its effect can't be taken back.")
    return " ".join(words)


def _whole(row: Call, workspace: str) -> str:
    """Where the whole of a shortened result is, or ""."""
    return reverse("sessions:result", args=[workspace, row.session_id, row.pk]) if row.blob is not None else ""
