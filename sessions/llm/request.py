"""One model call: the whole transcript out, one reply back. ONE attempt, this thread blocked, no database.

Lives here: the road every provider takes, the scripted one too, and the builders for the vendors' models, found by
the dotted paths in `settings.MODEL_PROVIDERS`: kind → `builder(req) -> Model` of pydantic_ai, called by the asking
thread, so that its imports don't stop the loop.
May not: retry (retry.py does), parse what the model wrote, import pydantic_ai when it is itself imported.
Invariants: only `ProviderError` comes out; the answer is streamed, so that a connection that dies is noticed, but
nothing of it is given out before its end.
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from django.conf import settings
from django.utils.module_loading import import_string

from sessions.contracts import ModelReply, ModelRequest, ProviderError, ToolSpec
from sessions.llm import clients, failures, loop, reply, transcript
from sessions.llm.address import base_url_for
from workspaces.errors import Invalid
from workspaces.values import clean_text

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model, ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

Builder = Callable[[ModelRequest], "Model[Any]"]

# The library's own deadline comes first; this much later the thread stops waiting for it.
GRACE_SECONDS = 5.0
# The most OpenAI takes as a tool's description.
MAX_DESCRIPTION = 1024


def request(req: ModelRequest) -> ModelReply:
    """One attempt to get the reply to *req*, within `req.timeout_seconds`.

    Raises ProviderError, whose `failure` and `retryable` say what to do; nothing else.
    """
    if not (req.timeout_seconds > 0 and math.isfinite(req.timeout_seconds)):
        raise ProviderError("The time limit of a model call must be above 0 seconds.", failure="provider_rejected")
    builder = _builder(req.provider.kind)
    _check_provider(req)
    try:
        with clients.in_use(req.provider):
            model = builder(req)
            messages = transcript.render(req, system=model.system, marks_failures=model.system == "anthropic")
            return loop.run(_attempt(req, model, messages), req.timeout_seconds + GRACE_SECONDS)
    except ProviderError:
        raise
    except (loop.LoopTimeout, TimeoutError):
        raise failures.timed_out(req) from None
    except Exception as error:  # noqa: BLE001 - whatever a provider sends may break the library that reads it
        raise failures.from_library(error, req) from None


def openai_model(req: ModelRequest) -> "Model[Any]":
    """The chat-completions model of an OpenAI-compatible provider."""
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai import OpenAIProvider

    return OpenAIChatModel(
        req.model,
        provider=OpenAIProvider(openai_client=clients.openai_client(req.provider)),
        # What a tool's schema says is what its digest was made of, so it goes out as it is.
        profile=OpenAIModelProfile(json_schema_transformer=None),
    )


def anthropic_model(req: ModelRequest) -> "Model[Any]":
    """The messages model of an Anthropic provider."""
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.profiles.anthropic import AnthropicModelProfile
    from pydantic_ai.providers.anthropic import AnthropicProvider

    return AnthropicModel(
        req.model,
        provider=AnthropicProvider(anthropic_client=clients.anthropic_client(req.provider)),
        profile=AnthropicModelProfile(json_schema_transformer=None),
    )


def _builder(kind: str) -> Builder:
    path = settings.MODEL_PROVIDERS.get(kind)
    if path is None:
        raise ProviderError(f"There is no kind of model provider named {kind[:40]!r}.", failure="provider_unknown")
    try:
        return cast(Builder, import_string(path))
    except ImportError as error:
        raise ProviderError(
            f"The kind of model provider {kind[:40]!r} can't be loaded: {error}.", failure="provider_unknown"
        ) from error


def _check_provider(req: ModelRequest) -> None:
    key = req.provider.api_key
    if not (key.isascii() and key.isprintable()):
        raise ProviderError(
            "The API key of the model provider holds characters that no key has.", failure="provider_auth"
        )
    try:
        base_url_for(req.provider.kind, req.provider.base_url)
    except Invalid as error:
        raise ProviderError(error.message, failure="provider_rejected") from None


async def _attempt(req: ModelRequest, model: "Model[Any]", messages: "list[ModelMessage]") -> ModelReply:
    from pydantic_ai.direct import model_request_stream

    async with model_request_stream(
        model,
        messages,
        model_settings=_settings(req),
        model_request_parameters=_parameters(req, model.system),
        instrument=False,
    ) as stream:
        async for _ in stream:
            pass  # the parts are put together by the library
    return reply.read(stream.get(), req, system=model.system)


def _settings(req: ModelRequest) -> "ModelSettings":
    return {"timeout": clients.timeout(req.timeout_seconds), "request_timeout": req.timeout_seconds}


def _parameters(req: ModelRequest, system: str) -> "ModelRequestParameters":
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.tools import ToolDefinition

    tools = req.tools
    if not tools and system == "anthropic" and any(message.calls for message in req.messages):
        # A history with calls is refused without any tool, for instance once the last one was taken from the agent.
        tools = (ToolSpec("no_tools", "There are no tools any more. Do not call this.", {}),)
    return ModelRequestParameters(
        function_tools=[
            ToolDefinition(
                name=tool.name,
                description=clean_text(tool.description)[:MAX_DESCRIPTION],
                parameters_json_schema={"type": "object", "properties": {}, **tool.parameters},
                strict=False,
            )
            for tool in tools
        ],
        allow_text_output=True,
    )
