"""The agents' editor: a definition as fields, and the definition those fields make.

Invariant: what the form can't show it doesn't change: a wait without end stays one ("never"), and so does an expiry
that was set for each kind by itself.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from django import forms

from sessions.contracts import Toolset
from sessions.definitions import AgentDefinition, Limits, Suspension
from sessions.present.display import indented
from workspaces.errors import Invalid, LaybyError
from workspaces.models import SLUG_WORDS
from workspaces.values import canonical, parse_json

EXPIRIES = [name for f in fields(Suspension) if (name := f.name).endswith("_expires_seconds")]
LIMITS = [f.name for f in fields(Limits)]
NEVER = "never"
AS_IT_IS = "as_it_is"
_CODE = {"class": "code", "spellcheck": "false"}

LABELS = {
    "question_expires_seconds": "A question expires after",
    "approval_expires_seconds": "An approval expires after",
    "external_expires_seconds": "An event is waited for",
    "children_expires_seconds": "Child sessions are waited for",
    "breakpoint_expires_seconds": "A breakpoint expires after",
    "model_calls": "Model calls",
    "running_seconds": "Running time (seconds)",
    "tool_calls_per_turn": "Tool calls in one turn",
    "provider_retries": "Retries of a provider",
    "depth": "Depth of nesting",
    "result_bytes": "Bytes of a tool's result",
    "deadline_seconds": "Deadline of the session (seconds)",
}


class AgentForm(forms.Form):
    """`current`: the definition to start from, of the version whose digest is `based_on`."""

    slug = forms.CharField(max_length=64, help_text=f"How sessions and the API name it; fixed. {SLUG_WORDS}.")
    name = forms.CharField(max_length=200)
    model = forms.CharField(
        max_length=300,
        help_text="provider:model, such as scripted:demo.",
        widget=forms.TextInput(attrs={"list": "models", "autocomplete": "off", "spellcheck": "false"}),
    )
    system_prompt = forms.CharField(required=False, strip=False, widget=forms.Textarea(attrs={"rows": 10}))
    may_ask_questions = forms.BooleanField(
        required=False,
        label="May ask questions with options",
        help_text="Gives it the tool system__ask_question, if the toolset is bound.",
    )
    on_expiry = forms.ChoiceField(label="At a deadline")
    script = forms.CharField(required=False, strip=False, widget=forms.Textarea(attrs={**_CODE, "rows": 16}))
    based_on = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, data: Any = None, *, current: AgentDefinition | None = None, new: bool, **initial: Any) -> None:
        self.current = current or AgentDefinition(model="")
        super().__init__(data, initial={**_initial(self.current), **initial}, label_suffix="")
        if not new:
            del self.fields["slug"]
        choices = [("continue", "The agent is told and goes on"), ("abandon", "The session is abandoned")]
        if isinstance(self.current.suspension.on_expiry, Mapping):
            kinds = ", ".join(f"{kind}: {what}" for kind, what in self.current.suspension.on_expiry.items())
            choices.append((AS_IT_IS, f"By kind ({kinds})"))
        self.fields["on_expiry"] = forms.ChoiceField(label="At a deadline", choices=choices)
        usual = Suspension()
        for name in EXPIRIES:
            hint = f"Seconds, or “never”. Usual: {_seconds(getattr(usual, name))}."
            self.fields[name] = forms.CharField(required=False, max_length=20, label=LABELS[name], help_text=hint)
        for name in LIMITS:
            self.fields[name] = forms.CharField(required=False, max_length=20, label=LABELS[name])

    def definition(self, tools: list[str]) -> dict[str, Any]:
        """The definition as the operations take it, numbers and script read. Raises Invalid naming the field."""
        data = self.cleaned_data
        suspension: dict[str, Any] = {"may_ask_questions": data["may_ask_questions"], "on_expiry": data["on_expiry"]}
        if data["on_expiry"] == AS_IT_IS:
            suspension["on_expiry"] = self.current.suspension.on_expiry
        for name in EXPIRIES:
            if data[name].strip():
                never = data[name].strip().lower() == NEVER
                suspension[name] = None if never else _number(f"suspension.{name}", data[name])
        return {
            "model": data["model"],
            "system_prompt": data["system_prompt"].replace("\r\n", "\n"),
            "tools": tools,
            "suspension": suspension,
            "limits": {name: _number(f"limits.{name}", data[name]) if data[name].strip() else None for name in LIMITS},
            "script": _script(data["script"]),
        }

    def refuse(self, error: LaybyError) -> str | None:
        """Put what an operation said at the field it names; what it said about the tools comes back."""
        where, _, words = error.message.partition(": ")
        field = where.rpartition(".")[2]
        if where == "tools":
            return words
        if "script" in error.message.split(":")[0].lower():
            self.add_error("script", words if where == "script" else error.message)
        elif words and field in self.fields and " " not in where:
            self.add_error(field, f"{words[:1].upper()}{words[1:]}")
        elif error.code == "already_exists" and "slug" in self.fields:
            self.add_error("slug", "An agent with this slug exists already.")
        else:
            self.add_error(None, error.message)
        return None


def _initial(current: AgentDefinition) -> dict[str, Any]:
    suspension, limits = current.suspension, current.limits
    by_kind = isinstance(suspension.on_expiry, Mapping)
    return {
        "model": current.model,
        "system_prompt": current.system_prompt,
        "may_ask_questions": suspension.may_ask_questions,
        "on_expiry": AS_IT_IS if by_kind else suspension.on_expiry,
        "script": indented(canonical([dict(entry) for entry in current.script])) if current.script else "",
        **{name: _seconds(getattr(suspension, name)) for name in EXPIRIES},
        **{name: "" if (value := getattr(limits, name)) is None else f"{value:g}" for name in LIMITS},
    }


def _seconds(value: float | None) -> str:
    return NEVER if value is None else f"{value:.15g}"


def _number(where: str, text: str) -> int | float:
    text = text.strip().replace("_", "")
    try:
        number = json.loads(text)
    except (ValueError, RecursionError):
        number = None
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise Invalid(f"{where}: a number is expected.")
    return number


def _script(text: str) -> Any:
    if not text.strip():
        return []
    try:
        return parse_json(text)
    except Invalid as error:
        raise Invalid(f"script: {error.message}") from None


# -- the tools tab ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Binding:
    """What the tools tab has checked: whole toolsets and single tools, by their names."""

    toolsets: frozenset[str]
    tools: frozenset[str]

    @classmethod
    def of(cls, bound: Iterable[str], toolsets: Iterable[Toolset]) -> "Binding":
        """How the list of a definition looks on the tab."""
        entries = set(bound)
        whole = {one.name for one in toolsets if one.name in entries}
        checked = {
            tool.full_name
            for one in toolsets
            for tool in one.tools
            if entries & {one.name, tool.full_name} and not entries & {f"-{one.name}", f"-{tool.full_name}"}
        }
        return cls(frozenset(whole), frozenset(checked))

    def as_list(self, toolsets: Iterable[Toolset]) -> list[str]:
        """The list of a definition: a whole toolset with its unchecked tools as exceptions, else the tools by name.

        A whole toolset with none of its tools checked has no exception: without a script, checking it checks no tool.
        """
        bound: list[str] = []
        for one in toolsets:
            names = [tool.full_name for tool in one.tools]
            mine = [name for name in names if name in self.tools]
            if one.name not in self.toolsets:
                bound += mine
                continue
            bound.append(one.name)
            bound += [f"-{name}" for name in names if mine and name not in self.tools]
        return bound


def tab(binding: Binding, toolsets: Iterable[Toolset]) -> list[dict[str, Any]]:
    """The tools tab's context."""
    return [
        {
            "name": one.name,
            "description": one.description,
            "whole": one.name in binding.toolsets,
            "tools": [
                {
                    "full_name": tool.full_name,
                    "name": tool.name,
                    "description": tool.description,
                    "effect": tool.effect,
                    "asks_person": tool.asks_person,
                    "checked": tool.full_name in binding.tools,
                }
                for tool in one.tools
            ],
        }
        for one in toolsets
    ]


def unknown(bound: Iterable[str], toolsets: Iterable[Toolset]) -> list[str]:
    """Sentences about what a binding names and this release does not have."""
    known = {one.name for one in toolsets} | {tool.full_name for one in toolsets for tool in one.tools}
    gone = [entry for entry in bound if entry.removeprefix("-") not in known]
    return [f"{entry} is not known in this release; saving leaves it out." for entry in gone]
