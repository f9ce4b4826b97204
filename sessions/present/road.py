"""The history of a session as a road: what people and the agent said, what it waited for, how it went on. Pure.

Made from journal entries and the rows they name, the same way for a page and for the news after a cursor: an entry
that comes again has the same id and is brought up to date in place.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sessions.present.calls import call
from sessions.present.display import indented, one_line, shortened, visible
from sessions.present.markdown import words
from sessions.present.words import is_person, name_of, span
from sessions.queries.conversation import JournalItem
from sessions.queries.page import History

Entry = dict[str, Any]


@dataclass(frozen=True)
class Scene:
    """What the road needs to know of its session."""

    workspace: str
    agent: str
    input: str
    output: str | None
    started_by: Mapping[str, Any]


def road(scene: Scene, past: History) -> list[Entry]:
    """The entries of a stretch in order. A turn whose calls moved is there whole, at the place of its reply."""
    found: dict[str, tuple[int, Entry]] = {}
    for turn, asked in past.asked.items():
        found[f"t{turn}"] = (asked.seq, _reply(scene, past, turn, asked))
    for item in past.entries:
        make = _MAKERS.get(item.kind)
        entry = make(scene, past, item) if make else None
        if entry is not None:
            # What comes again (a message queued, then read) keeps its first place.
            place = found[entry["id"]][0] if entry["id"] in found else item.seq
            found[entry["id"]] = (place, {"at": item.at, **entry})
    return [entry for _, entry in sorted(found.values(), key=lambda pair: pair[0])]


def _reply(scene: Scene, past: History, turn: int, asked: JournalItem) -> Entry:
    facts = [one_line(str(asked.data.get("model") or ""), 60)]
    if isinstance(ms := asked.data.get("ms"), int | float):
        facts.append(span(ms / 1000))
    return {
        "id": f"t{turn}",
        "kind": "agent",
        "at": asked.at,
        "who": scene.agent,
        "note": " · ".join(fact for fact in facts if fact),
        **words(past.replies.get(turn, "")),
        "calls": [call(row, scene.workspace) for row in past.calls.get(turn, ())],
    }


def _started(scene: Scene, past: History, item: JournalItem) -> Entry | None:
    if item.seq != 1:
        return None
    said = words(scene.input)
    return {"id": "start", "kind": "person", "who": name_of(scene.started_by), "note": "started the session", **said}


def _sent(scene: Scene, past: History, item: JournalItem) -> Entry | None:
    steer = past.sent.get(str(item.data.get("message")))
    if steer is None:
        return None
    note = "wrote while it ran" if steer.taken_at else "wrote; read before the next turn"
    said = words(steer.text)
    return {"id": f"m{steer.pk}", "kind": "person", "who": name_of(steer.by), "note": note, "at": steer.at, **said}


def _stay(scene: Scene, past: History, item: JournalItem) -> Entry | None:
    wait = past.waits.get(str(item.data.get("yield")))
    if wait is None or wait["outcome"] is None:
        return None
    ended = wait["outcome_at"] or item.at
    return {
        "id": f"y{wait['id']}",
        "kind": "stay",
        "at": ended,
        "wait": wait["kind"],
        "outcome": wait["outcome"],
        "by": name_of(wait["outcome_by"]),
        "asked": asked_of(wait),
        "answer": answer_of(wait),
        "opened_at": wait["opened_at"],
        "length": span((ended - wait["opened_at"]).total_seconds()),
    }


def asked_of(wait: Mapping[str, Any]) -> str:
    """What a wait asked, as text."""
    if wait["kind"] == "unknown_outcome":
        return f"How did {one_line(str(wait['tool'] or 'the call'), 120)} end?"
    questions = [q for q in wait["questions"] or [] if isinstance(q, dict)]
    text = wait["prompt"] or "\n".join(str(q.get("question", "")) for q in questions)
    return visible(shortened(str(text or ""), 2_000))


def answer_of(wait: Mapping[str, Any]) -> str:
    """What was answered, as text: an only value as it is, several by their names."""
    payload = wait["payload"]
    if wait["outcome"] == "cancelled":
        payload = payload.get("reason") if isinstance(payload, dict) else None
    elif wait["kind"] == "unknown_outcome" and isinstance(payload, dict):
        said = {"succeeded": "It was done.", "failed": "It was not done.", "rerun": "Run it again."}
        rest = [payload.get("result"), payload.get("reason")]
        payload = "\n".join([said.get(str(payload.get("outcome")), ""), *(plain(one) for one in rest if one)])
    elif wait["kind"] == "ask_question" and isinstance(payload, dict):
        payload = payload.get("answer", payload.get("answers"))
    return visible(shortened(plain(payload), 4_000))


def plain(value: Any) -> str:
    """A JSON value as a reader would write it."""
    match value:
        case None:
            return ""
        case str():
            return value
        case bool():
            return "yes" if value else "no"
        case dict() if len(value) == 1:
            return plain(next(iter(value.values())))
        case dict() if all(not isinstance(one, dict) for one in value.values()):
            return "\n".join(f"{name}: {plain(one)}" for name, one in value.items())
        case list() if all(isinstance(one, str) for one in value):
            return ", ".join(value)
    return indented(json.dumps(value, ensure_ascii=False))


def _note(say: Callable[[JournalItem, str], str]) -> Callable[[Scene, History, JournalItem], Entry | None]:
    def make(scene: Scene, past: History, item: JournalItem) -> Entry | None:
        text = say(item, name_of(item.actor) if is_person(item.actor) else "")
        return {"id": f"n{item.seq}", "kind": "note", "text": text} if text else None

    return make


def _late(item: JournalItem, who: str) -> str:
    said = plain(item.data.get("payload"))
    text = f"{who or 'Somebody'} came too late; this was not delivered"
    return f"{text}: {visible(shortened(said, 2_000))}" if said else f"{text}."


def _paused(item: JournalItem, who: str) -> str:
    if item.data.get("asked"):
        return f"{who or 'Somebody'} asked it to pause at the next safe point."
    return f"Paused by {who}." if who else "Paused."


def _resumable(item: JournalItem, who: str) -> str:
    if item.data.get("why") == "worker_died":
        return "Its worker died. Another one goes on from the last thing recorded."
    return ""


def _again(item: JournalItem, who: str) -> str:
    tool = one_line(str(item.data.get("tool") or "A call"), 120)
    return (
        f"{tool} runs again." if item.data.get("why") != "worker_died" else f"Its worker died in {tool}; it runs again."
    )


def _provider(item: JournalItem, who: str) -> str:
    again = item.data.get("in")
    when = f" It is tried again in {span(float(again))}." if isinstance(again, int | float) else ""
    return f"The provider did not answer: {one_line(str(item.data.get('message') or ''), 400)}{when}"


def _end(scene: Scene, past: History, item: JournalItem) -> Entry:
    state = item.kind.partition(".")[2]
    entry = {"id": f"end{item.seq}", "kind": "end", "state": state, "who": "", "code": item.data.get("code") or ""}
    if is_person(item.actor):
        entry["who"] = name_of(item.actor)
    if state != "completed":
        return {**entry, "text": visible(str(item.data.get("reason") or ""))}
    said = past.replies.get(max(past.replies, default=0), "")
    # The last reply stands right above: saying it twice helps nobody.
    return entry if not scene.output or scene.output == said else {**entry, **words(scene.output)}


_MAKERS: Mapping[str, Callable[[Scene, History, JournalItem], Entry | None]] = {
    "session.queued": _started,
    "message.queued": _sent,
    "message.taken": _sent,
    "wait.closed": _stay,
    "event.matched": _stay,
    "wait.late": _note(_late),
    "session.paused": _note(_paused),
    "session.resumed": _note(lambda item, who: f"{who or 'Somebody'} resumed it."),
    "session.retried": _note(lambda item, who: f"{who or 'Somebody'} let it go on."),
    "session.moved": _note(lambda item, who: f"{who or 'Somebody'} moved it to another version of its agent."),
    "session.attention": _note(lambda item, who: f"Set aside: {visible(str(item.data.get('message') or ''))}"),
    "session.resumable": _note(_resumable),
    "model.retried": _note(_provider),
    "call.rerun": _note(_again),
    "result.late": _note(lambda item, who: "A result came after its worker had lost the session: kept, not used."),
    **{f"session.{state}": _end for state in ("completed", "failed", "cancelled", "abandoned")},
}


def changed_calls(past: History) -> Iterator[Any]:
    """The calls of a stretch in order, for the list of calls."""
    for turn in sorted(past.calls):
        yield from past.calls[turn]
