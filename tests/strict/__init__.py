"""Local model providers as strict as the big ones, over real HTTP, for everybody's tests.

    with StrictOpenAI(script=[Reply(calls=[Call("system__ask_user", {"prompt": "Which?"})]), "Done."]) as server:
        ...  # a provider with kind "openai", base_url server.base_url, api_key server.api_key
    # leaving fails the test if a request was refused

They refuse (400, naming it) what the vendors refuse and some of what only stricter compatible servers do: see
`openai_rules` and `anthropic_rules`. `script` is a list, played one item per accepted request, or a callable that gets
the request's messages and gives the item. Items: text, a Reply, a `{"say", "calls"}` of the scripted model, or a fault.
"""

from tests.strict.anthropic_server import StrictAnthropic
from tests.strict.openai_server import StrictOpenAI
from tests.strict.plan import (
    Call,
    ContextTooLong,
    Cut,
    Fault,
    Hang,
    RateLimited,
    Reply,
    ServerError,
    Slow,
    StreamError,
    Thinking,
)

__all__ = [
    "Call",
    "ContextTooLong",
    "Cut",
    "Fault",
    "Hang",
    "RateLimited",
    "Reply",
    "ServerError",
    "Slow",
    "StreamError",
    "StrictAnthropic",
    "StrictOpenAI",
    "Thinking",
]
