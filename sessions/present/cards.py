"""The cards of what a session waits for, by the kind of wait. Pure.

`CARDS` says which function draws a kind; a kind that is not in it gets the plain card of something outside.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sessions.forms.answers import AnswerForm
from sessions.models import Call
from sessions.present.calls import shown_json
from sessions.present.display import one_line, short_id, visible
from sessions.present.markdown import rendered
from sessions.queries.status import WAITS_FOR
from workspaces.roles import Need, Role, allows

Wait = Mapping[str, Any]


@dataclass(frozen=True)
class Entered:
    """What a person sent with a card and what is wrong with it."""

    form: AnswerForm | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    errors: Sequence[str] = ()


@dataclass(frozen=True)
class Desk:
    """Who looks at the cards, and when; the calls that waits of unknown outcome are about, by id."""

    role: Role
    now: datetime
    calls: Mapping[str, Call] = field(default_factory=dict)
    entered: Mapping[str, Entered] = field(default_factory=dict)


def card(wait: Wait, desk: Desk) -> dict[str, Any]:
    """One open wait, for `_wait.html`."""
    entered = desk.entered.get(wait["id"], Entered())
    need = Need.DECIDE if wait["gated"] or wait["kind"] == "approval" else Need.OPERATE
    found = {
        "id": wait["id"],
        "short_id": short_id(wait["id"]),
        "kind": wait["kind"],
        "reason": wait["reason"],
        "tool": one_line(str(wait["tool"] or ""), 120),
        "call_id": wait["call_id"],
        "event_key": visible(wait["event_key"]),
        "opened_at": wait["opened_at"],
        "deadline_at": wait["deadline_at"],
        "on_expiry": wait["on_expiry"],
        "left": _left(wait, desk.now),
        "gated": wait["gated"],
        "may_act": allows(desk.role, need),
        "errors": [visible(error) for error in entered.errors],
    }
    draw = CARDS.get(wait["kind"], _outside)
    return found | draw(wait, desk, entered)


def _left(wait: Wait, now: datetime) -> int:
    """Percent of the wait's time that is left."""
    if wait["deadline_at"] is None:
        return 100
    whole = (wait["deadline_at"] - wait["opened_at"]).total_seconds()
    left = (wait["deadline_at"] - now).total_seconds()
    return max(0, min(100, round(100 * left / whole))) if whole > 0 else 0


def _question(wait: Wait, desk: Desk, entered: Entered) -> dict[str, Any]:
    form = entered.form or AnswerForm(wait)
    prompt = str(wait["prompt"] or "")
    # Hidden characters first: what is asked is what somebody decides on, so nothing in it stays out of sight.
    seen = visible(prompt)
    return {
        "prompt": seen,
        "prompt_html": rendered(seen),
        "text": form.text,
        "fields": form.fields,
        "questions": form.questions,
        "errors": [visible(error) for error in (*entered.errors, *form.errors)],
        # A mistake at a field is a mistake of the form: the card must be drawn anew.
        "mistakes": bool(entered.form),
    }


def _unknown(wait: Wait, desk: Desk, entered: Entered) -> dict[str, Any]:
    call = desk.calls.get(str(wait["call_id"]))
    return {
        "arguments": shown_json(call.arguments) if call else "",
        "started_at": (call.started_at if call else None) or wait["opened_at"],
        "effect": call.effect if call else "write",
        "values": entered.values,
        "mistakes": bool(entered.values),
    }


def _outside(wait: Wait, desk: Desk, entered: Entered) -> dict[str, Any]:
    return {"title": f"Waits for {WAITS_FOR.get(wait['kind'], 'something outside')}", "detail": ""}


CARDS: Mapping[str, Callable[[Wait, Desk, Entered], dict[str, Any]]] = {
    "ask_user": _question,
    "ask_question": _question,
    "unknown_outcome": _unknown,
}


def waits_for(waits: Sequence[Wait]) -> str:
    """What a session waits for, to follow the word Waiting: `an answer`, `2 answers`, `an answer and an event`."""
    answers = sum(wait["kind"] in ("ask_user", "ask_question") for wait in waits)
    words = [f"{answers} answers"] if answers > 1 else ["an answer"] if answers else []
    words += [
        WAITS_FOR.get(w["kind"], "something outside") for w in waits if w["kind"] not in ("ask_user", "ask_question")
    ]
    words = list(dict.fromkeys(words))
    return " and ".join(words) if len(words) < 3 else f"{len(waits)} things"
