"""How a tool is written: a typed function with a docstring, under `@tool`.

    @tool("notes", effect="read", on_crash="rerun")
    def find_notes(context: ToolContext, word: Annotated[str, MinLen(1)], limit: Annotated[int, Ge(1)] = 20) -> Any:
        \"\"\"Find the notes that hold a word.

        Args:
            word: The word, in any case.
            limit: At most this many.
        \"\"\"

    toolset = Toolset("notes", "Short notes of the team.", (find_notes,))

The body returns a text or JSON values, raises `ToolError` with words for the model, or returns a `YieldRequest`; it
never touches a row. `toolset` is then listed by dotted path in `settings.TOOLSETS`.
"""

from collections.abc import Callable, Mapping
from typing import Any

from sessions.contracts import BOTH_SURFACES, Effect, OnCrash, Settle, Surface, Tool, ToolContext
from sessions.tools import signatures


def tool(
    toolset: str,
    *,
    effect: Effect = "write",
    on_crash: OnCrash = "unknown",
    concurrency_safe: bool = False,
    surfaces: frozenset[Surface] | frozenset[str] = BOTH_SURFACES,
    asks_person: bool = False,
    requires: str | None = None,
    settle: Settle | None = None,
) -> Callable[[Callable[..., Any]], Tool]:
    """Make the decorated function a `Tool` of *toolset*, named as the function is.

    What the docstring's first paragraph says is the description; the arguments' schema comes from the signature
    (`signatures` says how). Raises TypeError at import for what no model could be told.
    """

    def make(function: Callable[..., Any]) -> Tool:
        signature = signatures.read(function)

        def body(context: ToolContext, arguments: Mapping[str, Any]) -> Any:
            return function(context, **signature.bind(arguments))

        return Tool(
            toolset=toolset,
            name=function.__name__,
            description=signature.description,
            parameters=signature.parameters,
            body=body,
            effect=effect,
            on_crash=on_crash,
            concurrency_safe=concurrency_safe,
            surfaces=surfaces,
            asks_person=asks_person,
            settle=settle,
            requires=requires,
        )

    return make
