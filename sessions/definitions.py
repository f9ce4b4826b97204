"""An agent's definition as frozen values: what a version's canonical JSON means, its defaults and its bounds.

No rows and no registries: whether a tool or a provider exists is asked by `operations.agents`. Invariant:
`parse(d).as_json()` is complete (every default is written out), so equal definitions have equal hashes.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from workspaces.errors import Invalid
from workspaces.values import canonical, require_clean

REASONS = ("approval", "question", "external", "children", "breakpoint")
DAY = 86_400
MAX_SECONDS = 366 * DAY


@dataclass(frozen=True)
class Suspension:
    """What an agent may wait for, how long (seconds; None: for ever), and what happens at the deadline."""

    may_ask_questions: bool = False
    approval_expires_seconds: float | None = DAY
    question_expires_seconds: float | None = DAY
    external_expires_seconds: float | None = 7 * DAY
    children_expires_seconds: float | None = 3600
    breakpoint_expires_seconds: float | None = DAY
    on_expiry: str | Mapping[str, str] = "continue"

    def expires_seconds(self, reason: str) -> float | None:
        """The default life of a wait of that reason; None: no deadline (timers and triggers have none here)."""
        value = getattr(self, f"{reason}_expires_seconds", None)
        return None if value is None else float(value)

    def expiry(self, reason: str) -> str:
        """`continue` or `abandon` for a wait of that reason."""
        if isinstance(self.on_expiry, str):
            return self.on_expiry
        return self.on_expiry.get(reason, "continue")


@dataclass(frozen=True)
class Limits:
    """Bounds of one session; None: none. `model_calls` and `running_seconds` count since the last outside wake."""

    model_calls: int | None = 48
    running_seconds: float | None = 900
    tool_calls_per_turn: int | None = 16
    provider_retries: int | None = 8
    depth: int | None = 8
    result_bytes: int | None = 32 * 1024
    deadline_seconds: float | None = None


@dataclass(frozen=True)
class AgentDefinition:
    """What one version of an agent is. `model` is `provider-slug:model-name`."""

    model: str
    system_prompt: str = ""
    tools: tuple[str, ...] = ()
    suspension: Suspension = field(default_factory=Suspension)
    limits: Limits = field(default_factory=Limits)
    script: tuple[Mapping[str, Any], ...] = ()

    @property
    def provider_slug(self) -> str:
        return self.model.partition(":")[0]

    @property
    def model_name(self) -> str:
        return self.model.partition(":")[2]

    def as_json(self) -> dict[str, Any]:
        """The complete definition, defaults written out."""
        found = asdict(self)
        found["tools"] = list(self.tools)
        found["script"] = [dict(entry) for entry in self.script]
        return found

    def canonical(self) -> str:
        """The text a version keeps and its name is the hash of."""
        return canonical(self.as_json())

    def digest(self) -> str:
        """sha256 of the canonical text, in hex."""
        return hashlib.sha256(self.canonical().encode()).hexdigest()


def parse(raw: Mapping[str, Any]) -> AgentDefinition:
    """*raw* (SPEC 14's body of an agent) as a definition. Raises Invalid naming the field that is wrong."""
    require_clean(dict(raw), "definition")
    model = raw.get("model")
    if not isinstance(model, str) or not all(part.strip() for part in model.partition(":")[::2]) or ":" not in model:
        raise Invalid('model: write "provider-slug:model-name", such as "scripted:demo".')
    if len(model) > 300:
        raise Invalid("model: at most 300 characters.")
    prompt = raw.get("system_prompt") or ""
    if not isinstance(prompt, str):
        raise Invalid("system_prompt: a text is expected.")
    tools = raw.get("tools") or []
    if not isinstance(tools, list | tuple) or not all(isinstance(t, str) for t in tools):
        raise Invalid("tools: a list of names is expected.")
    script = raw.get("script") or []
    if not isinstance(script, list | tuple):
        raise Invalid("script: a list of entries is expected.")
    return AgentDefinition(
        model=model.strip(),
        system_prompt=prompt,
        tools=tuple(dict.fromkeys(tools)),
        suspension=_suspension(raw.get("suspension") or {}),
        limits=_limits(raw.get("limits") or {}),
        script=tuple(script),
    )


def _suspension(raw: Any) -> Suspension:
    given = _object("suspension", raw, Suspension)
    for name, value in given.items():
        if name == "may_ask_questions":
            if not isinstance(value, bool):
                raise Invalid("suspension.may_ask_questions: true or false is expected.")
        elif name == "on_expiry":
            _check_on_expiry(value)
        else:
            given[name] = _seconds(f"suspension.{name}", value)
    return Suspension(**given)


def _check_on_expiry(value: Any) -> None:
    choices = value.values() if isinstance(value, Mapping) else [value]
    if isinstance(value, Mapping) and (wrong := sorted(set(value) - set(REASONS))):
        raise Invalid(f"suspension.on_expiry: {wrong[0]!r} is not one of {', '.join(REASONS)}.")
    if any(choice not in ("continue", "abandon") for choice in choices):
        raise Invalid('suspension.on_expiry: "continue" or "abandon" is expected.')


def _limits(raw: Any) -> Limits:
    given = _object("limits", raw, Limits)
    for name, value in given.items():
        if name.endswith("_seconds"):
            given[name] = _seconds(f"limits.{name}", value)
        elif value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 10**9):
            raise Invalid(f"limits.{name}: a whole number from 0 on, or null for none, is expected.")
    return Limits(**given)


def _object(where: str, raw: Any, kind: type[Suspension] | type[Limits]) -> dict[str, Any]:
    if not isinstance(raw, Mapping):
        raise Invalid(f"{where}: an object is expected.")
    known = [f.name for f in fields(kind)]
    if wrong := [name for name in raw if name not in known]:
        raise Invalid(f"{where}: {str(wrong[0])[:80]!r} is not one of {', '.join(known)}.")
    return dict(raw)


def _seconds(where: str, value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= MAX_SECONDS:
        raise Invalid(f"{where}: seconds above 0 and up to {MAX_SECONDS}, or null for none, are expected.")
    return value
