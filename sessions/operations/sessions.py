"""Start, cancel, pause, resume, retry, steer."""

from collections.abc import Mapping
from typing import Any

from sessions.engine import store
from sessions.errors import Ended, WrongState
from sessions.models import Agent, AgentVersion, Session
from sessions.operations.agents import definition_of
from sessions.states import ENDED, WORDS, State
from workspaces import access
from workspaces.actors import Actor
from workspaces.errors import Invalid, NotFound
from workspaces.models import Workspace
from workspaces.roles import Need
from workspaces.values import canonical, require_clean

MAX_INPUT = 200_000
MAX_TITLE = 200
MAX_KEY = 255
MAX_METADATA = 16 * 1024
MAX_TEXT = 32_000
MAX_REASON = 2_000
SURFACES = ("workspace",)  # a chat is a later surface


def start_session(
    actor: Actor,
    workspace: Workspace,
    agent_slug: str,
    input: str,
    *,
    title: str | None = None,
    version: int | None = None,
    surface: str = "workspace",
    idempotency_key: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> tuple[Session, bool]:
    """(the session, whether it was started now). A known idempotency key brings the existing session back.

    Raises Forbidden, NotFound (agent, version), Invalid.
    """
    access.require(actor, workspace, Need.OPERATE)
    _text("input", input, MAX_INPUT)
    if title is not None and title.strip():
        _text("title", title, MAX_TITLE)
    else:
        title = title_of(input)
    if surface not in SURFACES:
        raise Invalid(f"surface: {surface[:40]!r} is not available, use {SURFACES[0]!r}.")
    if idempotency_key is not None:
        _text("idempotency_key", idempotency_key, MAX_KEY)
    metadata = metadata or {}
    require_clean(dict(metadata), "metadata")
    if len(canonical(dict(metadata))) > MAX_METADATA:
        raise Invalid(f"metadata: at most {MAX_METADATA} bytes of JSON.")
    found = _version(workspace, agent_slug, version)
    new = store.NewSession(
        workspace=workspace.pk,
        version=found.pk,
        input=input,
        title=title.strip(),
        actor=actor,
        surface=surface,
        metadata=metadata,
        idempotency_key=idempotency_key,
        deadline_seconds=definition_of(found).limits.deadline_seconds,
    )
    id_, created = store.start(new)
    return Session.objects.select_related("workspace", "version__agent", "text").get(pk=id_), created


def _version(workspace: Workspace, slug: str, number: int | None) -> AgentVersion:
    agent = Agent.objects.select_related("current").filter(workspace=workspace, slug=slug).first()
    if agent is None or agent.current is None:
        raise NotFound(f"There is no agent {slug[:80]!r} in this workspace.")
    if number is None:
        return agent.current
    version = AgentVersion.objects.filter(agent=agent, number=number).first()
    if version is None:
        raise NotFound(f"The agent {slug!r} has no version {number}.")
    return version


def title_of(text: str) -> str:
    """A title made of the first line of what was asked."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "Session")
    return line if len(line) <= 80 else line[:79].rstrip() + "…"


def _text(field: str, value: Any, most: int) -> None:
    if not isinstance(value, str) or not value.strip():
        raise Invalid(f"{field}: a text that is not empty is expected.")
    if len(value) > most:
        raise Invalid(f"{field}: at most {most} characters.")
    require_clean(value, field)


def _reason(reason: str) -> str:
    if len(reason) > MAX_REASON:
        raise Invalid(f"reason: at most {MAX_REASON} characters.")
    require_clean(reason, "reason")
    return reason.strip()


def cancel_session(actor: Actor, session: Session, reason: str = "") -> None:
    """End the session at once, from any state: its waits close, every open call is settled, its worker is fenced.

    Raises Ended if it had ended already.
    """
    access.require(actor, session.workspace, Need.OPERATE)
    ended = store.cancel(session.pk, actor, _reason(reason))
    if ended is not None:
        raise ended_error(ended.state)


def pause_session(actor: Actor, session: Session) -> None:
    """Pause now, or at the running worker's next safe point. Waits stay open. Raises Ended, WrongState."""
    access.require(actor, session.workspace, Need.OPERATE)
    _check(store.pause(session.pk, actor), {State.QUEUED, State.PARKED, State.RESUMABLE, State.RUNNING}, "paused")


def resume_session(actor: Actor, session: Session) -> None:
    """End a pause. Raises Ended, WrongState."""
    access.require(actor, session.workspace, Need.OPERATE)
    before = store.resume(session.pk, actor)
    allowed = {State.PAUSED, State.RUNNING} if before.pause_requested else {State.PAUSED}
    _check(before.state, allowed, "resumed")


def retry_session(actor: Actor, session: Session) -> None:
    """Let a failed, cancelled or set-aside session go on in place. Raises WrongState."""
    access.require(actor, session.workspace, Need.OPERATE)
    before = store.retry(session.pk, actor)
    set_aside = before.state is State.PARKED and before.attention is not None
    if before.state not in (State.FAILED, State.CANCELLED) and not set_aside:
        raise WrongState(f"A session that is {WORDS[before.state].lower()} cannot be retried.")


def steer_session(actor: Actor, session: Session, text: str) -> None:
    """Queue *text* for the next turn; it never answers a question. Raises Invalid, Ended."""
    access.require(actor, session.workspace, Need.OPERATE)
    _text("text", text, MAX_TEXT)
    state = store.steer(session.pk, text, actor)
    if state in ENDED:
        raise ended_error(state)


def _check(state: State, allowed: set[State], verb: str) -> None:
    if state in ENDED:
        raise ended_error(state)
    if state not in allowed:
        raise WrongState(f"A session that is {WORDS[state].lower()} cannot be {verb}.")


def ended_error(state: State) -> Ended:
    """The error that says how the session had ended already."""
    return Ended(f"This session has ended: {WORDS[state].lower()}.", state=str(state))
