"""Sessions, waits and calls as the documents of SPEC 14: the one shape of each for the API, the pages and the socket.

Lives here: rows to dicts. Fields are never renamed, only added; a field that does not belong to the kind is None.
The plural functions read what they need for all rows at once; the singular ones are the plural of one.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sessions.models import Call, Session, Yield
from sessions.states import ENDED, State

# What waits for a person; `unknown_outcome` counts as a question.
PERSON_REASONS = frozenset({"approval", "question", "breakpoint"})
QUESTION_KINDS = ("ask_user", "ask_question")

# Which of the wait's `shown` values a kind has, by the field of its document.
_SHOWN: Mapping[str, tuple[str, ...]] = {
    "ask_user": ("prompt",),
    "ask_question": ("questions",),
    "external": ("event", "correlation"),
    "children": ("children",),
}
_WITH_ARGUMENTS = frozenset({"approval", "unknown_outcome"})


def loaded(text: str | None, default: Any = None) -> Any:
    """JSON text as a value; what does not parse comes back as the text it is."""
    if text is None:
        return default
    try:
        return json.loads(text)
    except ValueError:
        return text


def text_of(id_: UUID | None) -> str | None:
    """An id as the opaque text of documents."""
    return None if id_ is None else str(id_)


# -- calls -------------------------------------------------------------------------------------------------------


def call_document(call: Call) -> dict[str, Any]:
    """One tool call. `arguments` is the parsed value, or what the model wrote where that is not JSON.

    `result` is exactly what the model reads; `shortened`: the whole of it was too long and is kept aside.
    """
    return {
        "id": str(call.pk),
        "turn": call.turn,
        "position": call.position,
        "tool": call.tool,
        "arguments": loaded(call.arguments),
        "status": call.status,
        "effect": call.effect,
        "on_crash": call.on_crash,
        "attempt": call.attempt,
        "result": call.result,
        "shortened": call.blob is not None,
        "created_at": call.created_at,
        "started_at": call.started_at,
        "ended_at": call.ended_at,
    }


def calls_of(session: Session) -> list[dict[str, Any]]:
    """All calls of *session* in the order the models gave them."""
    return [call_document(call) for call in Call.objects.filter(session=session).order_by("turn", "position")]


# -- waits -------------------------------------------------------------------------------------------------------


def yield_document(wait: Yield) -> dict[str, Any]:
    """SPEC 14's yield, with how it ended beside it. At most two statements."""
    return yield_documents([wait])[0]


def yield_documents(waits: Iterable[Yield]) -> list[dict[str, Any]]:
    """The documents of *waits*, in their order. At most two statements."""
    waits = list(waits)
    ids = [wait.call for wait in waits if wait.call is not None]
    calls: dict[UUID, Call] = Call.objects.only("tool", "arguments").in_bulk(ids) if ids else {}
    unknown = [wait.call for wait in waits if wait.kind == "unknown_outcome"]
    gated = set(Yield.objects.filter(call__in=unknown, phase="gate").values_list("call", flat=True)) if unknown else ()
    return [_wait(wait, calls.get(wait.call) if wait.call else None, wait.call in gated) for wait in waits]


def _wait(wait: Yield, call: Call | None, gated: bool) -> dict[str, Any]:
    shown = loaded(wait.shown, {})
    found = {name: shown.get(name) for name in _SHOWN.get(wait.kind, ())}
    schema = loaded(wait.schema)
    return {
        "id": str(wait.pk),
        "session": str(wait.session_id),
        "kind": wait.kind,
        "reason": wait.reason,
        "event_key": wait.event_key,
        "tool": call.tool if call else shown.get("tool"),
        "call_id": text_of(wait.call),
        "node": wait.node,
        "path": [str(wait.frame)],
        "prompt": found.get("prompt"),
        "questions": found.get("questions"),
        "response_schema": schema if wait.kind in QUESTION_KINDS else None,
        "arguments": loaded(call.arguments) if call and wait.kind in _WITH_ARGUMENTS else None,
        "event": found.get("event"),
        "correlation": found.get("correlation"),
        "payload_schema": schema if wait.kind == "external" else None,
        "children": found.get("children"),
        "opened_at": wait.opened_at,
        "deadline_at": wait.deadline_at,
        "wake_at": wait.wake_at,
        "on_expiry": wait.on_expiry,
        "gated": gated,
        "outcome": wait.outcome,
        "outcome_by": wait.outcome_by,
        "outcome_at": wait.outcome_at,
        "payload": loaded(wait.payload),
    }


def summary_of(wait: Mapping[str, Any]) -> str:
    """What a wait's document is about, in one line of at most 200 characters."""
    questions = wait["questions"] or []
    words = wait["prompt"] or " · ".join(str(q.get("question", "")) for q in questions if isinstance(q, dict))
    if not words and wait["kind"] == "unknown_outcome":
        words = f"How did {wait['tool']} end?"
    line = " ".join(str(words or wait["tool"] or wait["event_key"]).split())
    return line if len(line) <= 200 else line[:199].rstrip() + "…"


# -- sessions ----------------------------------------------------------------------------------------------------


def session_document(session: Session) -> dict[str, Any]:
    """SPEC 14's session with its open waits, its input and its metadata.

    Two statements, or four if *session* was fetched without `text` and `version__agent`.
    """
    text = session.text
    return session_documents([session])[0] | {"input": text.input, "metadata": loaded(text.metadata, {})}


def document_by_id(id_: UUID) -> dict[str, Any]:
    """The document of a session as it is now; the caller knows that it is there. Three statements."""
    return session_document(Session.objects.select_related("text", "version__agent").get(pk=id_))


def session_documents(sessions: Sequence[Session]) -> list[dict[str, Any]]:
    """The documents of *sessions* (fetched with `text` and `version__agent`), without input and metadata.

    At most three statements.
    """
    waiting: dict[str, list[dict[str, Any]]] = {str(session.pk): [] for session in sessions}
    live = [session.pk for session in sessions if session.state not in ENDED]
    rows = open_rows(live) if live else []
    for wait in yield_documents(rows):
        waiting[wait["session"]].append(wait)
    return [_session(session, waiting[str(session.pk)]) for session in sessions]


def open_rows(sessions: Sequence[UUID]) -> list[Yield]:
    """The open waits of *sessions*, oldest first."""
    # Both conditions: the index yield_untaken serves it, and an open wait is never taken.
    found = Yield.objects.filter(session__in=sessions, taken_at__isnull=True, outcome__isnull=True)
    return list(found.order_by("opened_at", "pk"))


def _session(session: Session, waiting: list[dict[str, Any]]) -> dict[str, Any]:
    version, text = session.version, session.text
    for_people = [wait for wait in waiting if wait["reason"] in PERSON_REASONS]
    deadlines = [wait["deadline_at"] for wait in waiting if wait["deadline_at"] is not None]
    nearest: datetime | None = min(deadlines, default=None)
    return {
        "id": str(session.pk),
        "state": session.state,
        "kind": session.kind,
        "surface": session.surface,
        "agent": version.agent.slug,
        "version": version.number,
        "version_digest": version.digest,
        "title": text.title,
        "output": text.output,
        "failure": failure_of(session),
        "end_reason": text.failure_message if session.state in ENDED else None,
        "attention": session.attention,
        "waiting": waiting,
        "needs_person": bool(for_people) or session.attention is not None,
        "asks": summary_of(for_people[0]) if for_people else "",
        "deadline_at": nearest,
        "pause_requested": session.pause_requested,
        "started_by": session.started_by,
        "idempotency_key": session.idempotency_key,
        "parent": text_of(session.parent_session),
        "depth": session.depth,
        "seq": session.seq,
        "created_at": session.created_at,
        "ended_at": session.ended_at,
    }


def failure_of(session: Session) -> dict[str, str] | None:
    """`{code, message}` of a failed or abandoned session, else None: a cancel is no failure (see `end_reason`)."""
    if session.state not in (State.FAILED, State.ABANDONED):
        return None
    return {"code": session.failure_code or session.state, "message": session.text.failure_message or ""}
