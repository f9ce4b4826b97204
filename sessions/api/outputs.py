"""The shapes of answers, as SPEC 14 has them: fields are added, never renamed. Filled from `sessions.queries`."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

ActorOut = dict[str, Any]


class PageOut(BaseModel):
    """A page: give `next_cursor` back as `?cursor=` to go on; null: this was the last."""

    next_cursor: str | None


class ProviderOut(BaseModel):
    """A model provider. The key is never shown."""

    id: str
    slug: str
    kind: str
    base_url: str = Field(description="Empty: the kind's own address.")
    has_key: bool
    created_at: datetime


class ProviderPage(PageOut):
    items: list[ProviderOut]


class AgentMade(BaseModel):
    """An agent and its newest version. `version` is the version's name: the hash of its definition."""

    id: str
    slug: str
    version: str
    number: int


class AgentChanged(AgentMade):
    changed: bool = Field(description="Whether a new version was made: the same definition again makes none.")


class AgentShort(AgentMade):
    name: str
    model: str
    tools: list[str]
    created_at: datetime


class AgentPage(PageOut):
    items: list[AgentShort]


class AgentOut(AgentMade):
    name: str
    created_at: datetime
    definition: dict[str, Any] = Field(description="Complete: every default is written out.")


class VersionOut(BaseModel):
    version: str
    number: int
    created_at: datetime
    created_by: str


class VersionPage(PageOut):
    items: list[VersionOut]


class WaitOut(BaseModel):
    """A yield: one wait of a session. What is not of its kind is null; `outcome` null: it is open."""

    id: str
    session: str
    kind: str = Field(
        description="ask_user, ask_question, approval, timer, trigger, watch, external, children, breakpoint or "
        "unknown_outcome"
    )
    reason: str = Field(description="approval, question, external, children, timer or breakpoint")
    event_key: str
    tool: str | None
    call_id: str | None
    node: str | None
    path: list[str] = Field(description="The frames from the session's own down to the one that waits.")
    prompt: str | None
    questions: list[Any] | None
    response_schema: Any
    arguments: Any
    event: str | None
    correlation: str | None
    payload_schema: Any
    children: list[Any] | None
    opened_at: datetime
    deadline_at: datetime | None
    wake_at: datetime | None
    on_expiry: str = Field(description="continue or abandon")
    gated: bool
    outcome: str | None = Field(description="answered, approved, rejected, fired, timed_out or cancelled")
    outcome_by: ActorOut | None
    outcome_at: datetime | None
    payload: Any = Field(description="What was answered or delivered.")


class WaitPage(PageOut):
    items: list[WaitOut]


class Failure(BaseModel):
    code: str
    message: str


class Attention(BaseModel):
    """Why a session is set aside until somebody retries or cancels it."""

    code: str
    message: str
    since: datetime


class SessionShort(BaseModel):
    """A session in a list."""

    id: str
    state: str
    kind: str
    surface: str
    agent: str
    version: int
    version_digest: str
    title: str
    output: str | None
    failure: Failure | None
    end_reason: str | None = Field(description="Why it failed, was cancelled or abandoned.")
    attention: Attention | None
    waiting: list[WaitOut] = Field(description="The open waits, oldest first.")
    needs_person: bool
    asks: str = Field(description="The first open question in one line, or empty.")
    deadline_at: datetime | None = Field(description="The nearest deadline of its waits.")
    pause_requested: bool
    started_by: ActorOut
    idempotency_key: str | None
    parent: str | None
    depth: int
    seq: int = Field(description="The number of its newest journal entry.")
    created_at: datetime
    ended_at: datetime | None


class SessionOut(SessionShort):
    """A session."""

    input: str
    metadata: dict[str, Any]


class SessionPage(PageOut):
    items: list[SessionShort]
    previous_cursor: str | None = Field(description="Back towards newer sessions.")


class MessageOut(BaseModel):
    """A message. `tool_call_id` is our id of the call this is the result of."""

    seq: int
    role: str = Field(description="user, assistant or tool")
    text: str
    calls: list[dict[str, Any]] = Field(description="Of an assistant: {id, tool, arguments, status} each.")
    tool_call_id: str | None
    tool: str | None
    status: str | None
    at: datetime | None


class MessagePage(PageOut):
    items: list[MessageOut]


class EntryOut(BaseModel):
    """A journal entry; the numbers of a session have no gaps."""

    seq: int
    kind: str
    at: datetime
    actor: ActorOut
    data: Any


class EntryPage(PageOut):
    items: list[EntryOut]


class WaitStatus(BaseModel):
    """Why one wait stands."""

    yield_: str = Field(alias="yield")
    kind: str
    reason: str
    event_key: str
    tool: str | None
    call_id: str | None
    prompt: str | None
    questions: list[Any] | None
    opened_at: datetime
    deadline_at: datetime | None
    wake_at: datetime | None
    on_expiry: str
    needs: str | None = Field(description="The least role that may end it; null: no person is waited for.")
    who: str
    why: str
    then: str


class StatusOut(BaseModel):
    """Why a session waits, for whom, until when, and what it will do then."""

    id: str
    title: str
    agent: str
    version: int
    state: str
    word: str = Field(description="The state as a person reads it.")
    summary: str
    needs_person: bool
    waiting: list[WaitStatus]
    deadline_at: datetime | None
    attention: Attention | None
    failure: Failure | None
    created_at: datetime
    ended_at: datetime | None


class PendingOut(BaseModel):
    """The one open question of a session."""

    yield_: str = Field(alias="yield")
    tool_call_id: str | None
    kind: str
    prompt: str | None
    questions: list[Any] | None
    response_schema: Any
    parked_at: datetime
    deadline_at: datetime | None


class WaitDone(BaseModel):
    """A wait has got its outcome."""

    yield_: str = Field(alias="yield")
    tool_call_id: str | None
    outcome: str
    session: str
    state: str = Field(description="The session's state right after.")


class InboxSession(BaseModel):
    id: str
    title: str
    state: str
    agent: str
    version: int


class InboxItem(BaseModel):
    """Something that waits for a person."""

    id: str = Field(description="The yield's id; of a session that is set aside, the session's.")
    kind: str = Field(description="The yield's kind, or attention.")
    reason: str
    session: InboxSession
    summary: str
    wait: WaitOut | None
    attention: Attention | None
    opened_at: datetime
    deadline_at: datetime | None


class InboxPage(PageOut):
    items: list[InboxItem]


class WorkerOut(BaseModel):
    id: str
    host: str
    pid: int
    slots: int
    busy: int
    held: int
    stopping: bool
    alive: bool
    started_at: datetime
    last_heartbeat_at: datetime
    alive_until: datetime


class WorkersOut(PageOut):
    """Worker processes serve every workspace; the numbers are of the token's own."""

    items: list[WorkerOut]
    queue_depth: int = Field(description="Sessions a worker could take now, counted up to 10,000.")
    oldest_ready_at: datetime | None
    oldest_due_at: datetime | None
