"""The types that the engine, the tools, the models and the drivers share. Values only: no rows, no I/O.

Below engine, tools and llm, so that they need not know each other. A tool sees `ToolContext` and nothing else of the
runtime; a model adapter sees `ModelRequest` and gives back `ModelReply` or raises `ProviderError`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from workspaces.errors import LaybyError

Effect = Literal["read", "write", "destructive"]
OnCrash = Literal["unknown", "rerun", "cancelled"]
Surface = Literal["workspace", "chat"]
BOTH_SURFACES: frozenset[str] = frozenset({"workspace", "chat"})


# -- tools -------------------------------------------------------------------------------------------------------


class ToolError(Exception):
    """An ordinary unsuccessful result: the text is what the model reads. Nothing else of the exception leaks."""


class ToolContext(Protocol):
    """What a tool's body may know and do. It gives no rows and no database."""

    session_id: str
    call_id: str
    idempotency_key: str
    workspace_slug: str
    surface: str
    attempt: int

    def inform(self, message: str) -> int:
        """Publish a one-way message (1..8000 characters) to the workspace; how many members and targets got it.

        Idempotent by call: a rerun publishes nothing twice.
        """
        ...

    def cancelled(self) -> bool:
        """Whether the session was taken from this worker: a long body should look and stop."""
        ...


@dataclass(frozen=True)
class YieldRequest:
    """What a tool wants to wait for. The engine makes the id, the event key and the deadline.

    `kind` and `reason` are SPEC 3's; `shown` is what a person sees; `schema` a JSON Schema the answer must meet;
    `timeout_seconds` beats the suspension policy's default (None: the policy's).
    `event_key` is for keys that others know (external events); None: `{kind}:{session}:{call}`.
    """

    kind: str
    reason: str
    shown: Mapping[str, Any] = field(default_factory=dict)
    schema: Mapping[str, Any] | None = None
    timeout_seconds: float | None = None
    event_key: str | None = None


@dataclass(frozen=True)
class WaitOutcome:
    """How a wait of a call ended. `payload` is what was delivered; `elapsed_seconds` runs from the opening."""

    outcome: str
    payload: Any
    by: str
    reason: str
    elapsed_seconds: float


Body = Callable[[ToolContext, dict[str, Any]], Any]
Settle = Callable[[WaitOutcome], Any]


@dataclass(frozen=True)
class Tool:
    """One tool. `parameters` is the JSON Schema of its arguments, made from the body's signature.

    `asks_person`: the body returns its `YieldRequest` without side effects, so that dispatch opens it for the whole
    turn at once. `settle` turns the outcome of its wait into the result the model reads (default: the engine's).
    `requires`: a name in the agent's suspension policy that must be true for the tool to exist (`may_ask_questions`).
    `on_crash`: what a started call without a result means after its worker died.
    """

    toolset: str
    name: str
    description: str
    parameters: Mapping[str, Any]
    body: Body
    effect: Effect = "write"
    on_crash: OnCrash = "unknown"
    concurrency_safe: bool = False
    surfaces: frozenset[str] = BOTH_SURFACES
    asks_person: bool = False
    settle: Settle | None = None
    requires: str | None = None

    @property
    def full_name(self) -> str:
        """`toolset__name`, as models and policies know it."""
        return f"{self.toolset}__{self.name}"


@dataclass(frozen=True)
class ReadyCall:
    """A call that may run: its tool exists for this agent and its arguments fit the schema."""

    tool: Tool
    arguments: dict[str, Any]


@dataclass(frozen=True)
class RefusedCall:
    """A call that does not run: `text` is the error result. `missing`: there is no such tool in this release."""

    text: str
    missing: bool = False


@dataclass(frozen=True)
class Toolset:
    """A named group of tools, found by the dotted path in `settings.TOOLSETS`."""

    name: str
    description: str
    tools: tuple[Tool, ...]


# -- models ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ToolSpec:
    """A tool as a model sees it."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class ModelCall:
    """One call a model asked for. `arguments` is its raw text, not parsed, never repaired."""

    provider_id: str
    tool: str
    arguments: str


@dataclass(frozen=True)
class ModelReply:
    """One reply. `extra` is opaque JSON of the adapter (reasoning parts, signatures), given back to it on replay."""

    text: str
    calls: tuple[ModelCall, ...] = ()
    extra: Any = None
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True)
class TranscriptCall:
    """A call inside an assistant message of the transcript. `id` is ours and unique; every call has its `result`."""

    id: str
    tool: str
    arguments: str
    result: str
    ok: bool = True


@dataclass(frozen=True)
class TranscriptMessage:
    """One message for the model: a user's text, or an assistant's reply with its calls and their results in order."""

    role: Literal["user", "assistant"]
    text: str
    calls: tuple[TranscriptCall, ...] = ()
    extra: Any = None


@dataclass(frozen=True)
class ProviderConfig:
    """Where a model is called. `kind` is a name in `settings.MODEL_PROVIDERS`; `api_key` is in clear, never log it."""

    kind: str
    base_url: str = ""
    api_key: str = field(default="", repr=False)


@dataclass(frozen=True)
class ModelRequest:
    """One model call: the whole transcript, the tools it may use. `timeout_seconds` bounds one attempt."""

    provider: ProviderConfig
    model: str
    system_prompt: str
    messages: tuple[TranscriptMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    script: tuple[Mapping[str, Any], ...] = ()
    timeout_seconds: float = 120.0


class ProviderError(LaybyError):
    """The model provider could not answer.

    `failure` is one of provider_auth, provider_rate_limited, provider_unavailable, provider_timeout,
    provider_rejected, provider_unknown, context_too_long, empty_reply, script_invalid; `retryable` says whether
    another try may help and `retry_after` (seconds) when. The message is for people and never holds a key.
    """

    code = "provider_error"
    status = 502

    def __init__(
        self, message: str, *, failure: str, retryable: bool = False, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.failure = failure
        self.retryable = retryable
        self.retry_after = retry_after
