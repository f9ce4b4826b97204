"""The answer to a question, as its card's form sends it: a text, the fields of a schema, or options and own words.

Invariant: what was typed stays in the form, whatever is wrong with it, and can be copied out of it (`typed`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict

from sessions.forms.schema import Field, Missing, answer_of, fields_of
from sessions.present.display import visible
from sessions.tools.answers import question_key
from workspaces.errors import Invalid, SchemaViolation


class NotReady(Exception):
    """Something is missing or can't be read; the form says what."""


@dataclass(frozen=True)
class Option:
    """A suggestion beside a question. `value` is what the form sends: its number, which no label can disturb."""

    label: str
    description: str
    checked: bool
    value: str


@dataclass
class Asked:
    """One question of `ask_question`, as `_question.html` shows it."""

    name: str
    words_name: str
    header: str
    text: str
    multi: bool
    options: list[Option]
    key: str
    words: str = ""
    error: str = ""
    chosen: list[str] = field(default_factory=list)


class AnswerForm:
    """The form on the card of *wait* (its document), filled from *data* where it was sent."""

    def __init__(self, wait: Mapping[str, Any], data: QueryDict | None = None) -> None:
        self.data = data
        self.errors: list[str] = []
        self.text = ""
        self.fields: list[Field] = []
        self.questions: list[Asked] = []
        if wait["kind"] == "ask_question":
            self.questions = [_asked(number, one, data) for number, one in enumerate(wait["questions"] or [])]
        elif wait["response_schema"] is not None:
            self.fields = fields_of(wait["response_schema"])
        elif data is not None:
            self.text = data.get("response", "").replace("\r\n", "\n")

    def read(self) -> Any:
        """The answer as the operation takes it. Raises NotReady once the errors stand at their fields."""
        if self.questions:
            return self._read_questions()
        if self.fields:
            return self._read_fields()
        if not self.text.strip():
            self.errors.append("Write an answer first.")
            raise NotReady
        return self.text

    def _read_fields(self) -> Any:
        assert self.data is not None
        values: dict[str, Any] = {}
        for one in self.fields:
            try:
                values[one.name] = one.read(self.data.get(one.name, ""))
            except Missing:
                if one.required:
                    one.error = "Choose one." if one.kind in ("boolean", "enum") else "Fill this in."
            except Invalid as error:
                one.error = error.message
        if any(one.error for one in self.fields):
            raise NotReady
        return answer_of(self.fields, values)

    def _read_questions(self) -> dict[str, Any]:
        answers: dict[str, Any] = {}
        for asked in self.questions:
            said = [*asked.chosen, asked.words.strip()] if asked.words.strip() else asked.chosen
            if not said:
                asked.error = "Choose one or write your own words." if asked.options else "Write an answer."
                continue
            answers[asked.key] = said if asked.multi else "\n".join(said)
        if any(asked.error for asked in self.questions):
            raise NotReady
        if len(self.questions) == 1 and isinstance(only := answers[self.questions[0].key], str):
            return {"answer": only}
        return {"answers": answers}

    def refuse(self, error: Invalid) -> None:
        """Put what the operation said about the answer where it belongs: at a field, else above the form."""
        named = error.extra.get("errors") if isinstance(error, SchemaViolation) else None
        for problem in named or []:
            owner = self._owner(problem["path"])
            words = f"{problem['message'][:1].upper()}{problem['message'][1:]}."
            if owner is None:
                self.errors.append(f"{problem['path']} {problem['message']}." if problem["path"] else words)
            elif owner.place == problem["path"]:
                owner.error = owner.error or words
            else:
                owner.error = owner.error or f"{problem['path']} {problem['message']}."
        if not named:
            self.errors.append(error.message)

    def _owner(self, where: str) -> Field | None:
        for one in self.fields:
            if where == one.place or (one.place and where.startswith((one.place + ".", one.place + "["))):
                return one
        only = self.fields[0] if len(self.fields) == 1 else None
        return only if only is not None and only.key is None else None

    def typed(self) -> str:
        """What a person entered, as a text to copy."""
        return "\n\n".join(self._typed())

    def _typed(self) -> Iterator[str]:
        if self.text.strip():
            yield self.text
        for one in self.fields:
            entered = self.data.get(one.name, "").strip() if self.data is not None else ""
            if entered:
                chosen = next((c.label for c in one.choices if c.value == entered), entered)
                yield f"{one.label}: {chosen}" if one.key is not None else chosen
        for asked in self.questions:
            said = [*asked.chosen, asked.words.strip()] if asked.words.strip() else asked.chosen
            if said:
                yield f"{asked.header or asked.text}: {', '.join(said)}"


def _asked(number: int, question: Mapping[str, Any], data: QueryDict | None) -> Asked:
    name = f"q{number}"
    options = [one for one in question.get("options") or [] if isinstance(one, Mapping)]
    multi = bool(question.get("multi_select"))
    labels = [str(one.get("label", "")) for one in options]
    picked = [n for n in range(len(labels)) if str(n) in data.getlist(name)] if data is not None else []
    picked = picked if multi else picked[:1]
    return Asked(
        name=name,
        words_name=f"{name}-words",
        header=visible(str(question.get("header") or "")),
        text=visible(str(question.get("question") or "")),
        multi=multi,
        options=[
            Option(visible(label), visible(str(one.get("description") or "")), n in picked, str(n))
            for n, (label, one) in enumerate(zip(labels, options, strict=True))
        ],
        key=question_key(question),
        words=data.get(f"{name}-words", "").replace("\r\n", "\n") if data is not None else "",
        chosen=[labels[n] for n in picked],
    )
