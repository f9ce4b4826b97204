"""The turn loop of an agent: model reply, its calls, their results, the next reply, until a reply asks for nothing."""

import json
import time
from dataclasses import asdict
from functools import lru_cache, partial
from uuid import UUID

from sessions.contracts import (
    ModelRequest,
    ProviderConfig,
    ProviderError,
    ReadyCall,
    RefusedCall,
)
from sessions.definitions import AgentDefinition, parse
from sessions.drivers.transcript import transcript
from sessions.engine import store
from sessions.engine.dispatch import Dispatch
from sessions.engine.run import Run
from sessions.llm.retry import request_with_retries
from sessions.models import AgentVersion, Provider
from sessions.states import Attention, CallStatus
from sessions.tools import arguments, registry
from workspaces import secrets
from workspaces.ids import new_id

# So many turns in a row in which no call could even begin: the model is not getting anywhere.
HOPELESS_TURNS = 5


@lru_cache(maxsize=512)
def definition_of(version: UUID) -> AgentDefinition:
    """The definition of an immutable version."""
    return parse(json.loads(AgentVersion.objects.values_list("definition", flat=True).get(pk=version)))


def provider_config(workspace: UUID, slug: str) -> ProviderConfig:
    """Where the models of provider *slug* are called. Raises ProviderError."""
    row = Provider.objects.filter(workspace=workspace, slug=slug).values_list("kind", "base_url", "api_key").first()
    if row is None:
        message = f"There is no model provider {slug!r} in this workspace any more."
        raise ProviderError(message, failure="provider_unknown")
    return ProviderConfig(row[0], row[1], secrets.decrypt(row[2]) if row[2] else "")


class AgentDriver:
    """Drives a frame of kind `agent`: one driver for one drive, which reads its provider once."""

    def __init__(self) -> None:
        self._provider: ProviderConfig | None = None

    def drive(self, run: Run) -> None:
        """Go on until the session parks, ends, or is taken: always leaves by an `Unwind`."""
        definition = definition_of(run.memory.version)
        run.limits = definition.limits
        box = registry.toolbox(definition.tools, run.claim.surface, asdict(definition.suspension))
        while True:
            run.checkpoint()
            if run.memory.open_calls():
                self._check_turn(run)
                Dispatch(run, partial(prepare, box), definition.suspension).turn()
                continue
            last = run.memory.messages[-1]
            if last.role == "assistant" and not run.memory.calls.get(last.turn):
                run.finish(last.text)
            self._check_progress(run)
            run.take_steers()
            self._reply(run, definition, box)

    def _check_turn(self, run: Run) -> None:
        limit, asked = run.limits.tool_calls_per_turn, len(run.memory.calls[run.memory.turn])
        if limit is not None and asked > limit:
            code = "limit_tool_calls_per_turn"
            run.fail(code, f"The model asked for {asked} tool calls in one turn (limit tool_calls_per_turn: {limit}).")

    def _check_progress(self, run: Run) -> None:
        if run.lease.model_calls < HOPELESS_TURNS:
            return  # not since the last wake: a retry gets its own turns, or it would end before it asked anything
        turns = [run.memory.calls[n] for n in sorted(run.memory.calls) if run.memory.calls[n]][-HOPELESS_TURNS:]
        if len(turns) == HOPELESS_TURNS and all(
            call.status is CallStatus.FAILED and call.attempt == 0 for turn in turns for call in turn
        ):
            run.fail("invalid_calls", f"In {HOPELESS_TURNS} turns in a row none of the model's calls could run.")

    def _reply(self, run: Run, definition: AgentDefinition, box: registry.Toolbox) -> None:
        began = time.monotonic()
        try:
            request = self._request(run, definition, box)
            run.before_model_call()
            reply = request_with_retries(request, run.limits.provider_retries, run.wait, partial(self._retried, run))
        except ProviderError as error:
            if error.failure == "context_too_long":
                run.set_aside(Attention.CONTEXT_TOO_LONG, error.message)
            run.fail(error.failure, error.message)
        facts = {
            "model": reply.model or definition.model_name,
            "ms": round((time.monotonic() - began) * 1000),
            "input_tokens": reply.input_tokens,
            "output_tokens": reply.output_tokens,
        }
        run.record_reply(
            reply, [new_call(box, call.provider_id, call.tool, call.arguments) for call in reply.calls], facts
        )

    def _retried(self, run: Run, attempt: int, error: ProviderError, seconds: float) -> None:
        run.note("model.retried", {"attempt": attempt, "why": error.failure, "message": error.message, "in": seconds})

    def _request(self, run: Run, definition: AgentDefinition, box: registry.Toolbox) -> ModelRequest:
        if self._provider is None:
            self._provider = provider_config(run.lease.workspace, definition.provider_slug)
        return ModelRequest(
            provider=self._provider,
            model=definition.model_name,
            system_prompt=definition.system_prompt,
            messages=transcript(run.memory),
            tools=box.specs(),
            script=definition.script,
        )


def prepare(box: registry.Toolbox, name: str, raw: str) -> ReadyCall | RefusedCall:
    """The tool and the parsed arguments of a call, or why it does not run."""
    tool = box.get(name)
    if tool is None:
        return RefusedCall(box.missing(name), missing=True)
    parsed = arguments.parse(tool, raw)
    if isinstance(parsed, arguments.BadArguments):
        return RefusedCall(parsed.message)
    return ReadyCall(tool, parsed.value)


def new_call(box: registry.Toolbox, provider_id: str, name: str, raw: str) -> store.NewCall:
    """A call as it is stored: canonical arguments if they parse, else what the model wrote."""
    tool = box.get(name)
    if tool is None:
        return store.NewCall(new_id(), provider_id, name, raw, "write", "unknown")
    parsed = arguments.parse(tool, raw)
    text = raw if isinstance(parsed, arguments.BadArguments) else parsed.text
    return store.NewCall(new_id(), provider_id, tool.full_name, text, tool.effect, tool.on_crash)
