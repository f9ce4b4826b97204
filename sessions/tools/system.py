"""The toolset `system`: asking and telling people, and the time. On both surfaces.

Lives here: the bodies and what a model reads of how its question ended (SPEC 5). May not: open a wait, check an
answer (that is `answers`, when one comes), send a notification itself.
Invariants: the asking bodies do nothing but return their request, so dispatch may open all cards of a turn at once.
"""

from difflib import get_close_matches
from functools import cache
from typing import Annotated, Any, NotRequired, TypedDict
from zoneinfo import ZoneInfo, available_timezones

from annotated_types import Gt, Le, MaxLen, MinLen

from sessions.contracts import ToolContext, ToolError, Toolset, WaitOutcome, YieldRequest
from sessions.tools.answers import check_schema, question_key
from sessions.tools.base import tool
from sessions.tools.wording import shown
from workspaces import clock
from workspaces.errors import Invalid

MAX_TIMEOUT = 30 * 86_400

Text = Annotated[str, MinLen(1), MaxLen(8000)]
Timeout = Annotated[float, Gt(0), Le(MAX_TIMEOUT)]


class Option(TypedDict):
    """One suggestion beside a question."""

    label: Annotated[str, MinLen(1), MaxLen(80), "What the person picks, in a few words."]
    description: NotRequired[Annotated[str, MaxLen(400), "What picking it means."]]


class Question(TypedDict):
    """One question of `ask_question`."""

    question: Annotated[str, MinLen(1), MaxLen(2000), "The question in full."]
    header: NotRequired[Annotated[str, MaxLen(24), "A short name for it; the answer comes under this name."]]
    multi_select: NotRequired[Annotated[bool, "Whether several options may be picked."]]
    options: NotRequired[
        Annotated[list[Option], MaxLen(4), "Suggestions; the person may always write something else instead."]
    ]


def _ended(outcome: WaitOutcome) -> dict[str, Any]:
    """The result of a question that got no answer."""
    elapsed = round(outcome.elapsed_seconds, 3)
    match outcome.outcome:
        case "timed_out":
            return {"timed_out": True, "elapsed_seconds": elapsed}
        case "cancelled":
            return {"cancelled": True, "reason": outcome.reason, "by": outcome.by, "elapsed_seconds": elapsed}
    raise ToolError(f"The question ended without an answer ({outcome.outcome}).")


def _settle_ask_user(outcome: WaitOutcome) -> dict[str, Any]:
    return {"response": outcome.payload} if outcome.outcome == "answered" else _ended(outcome)


def _settle_ask_question(outcome: WaitOutcome) -> Any:
    return outcome.payload if outcome.outcome == "answered" else _ended(outcome)


@tool("system", effect="read", on_crash="rerun", asks_person=True, settle=_settle_ask_user)
def ask_user(
    context: ToolContext,
    prompt: Text,
    response_schema: dict[str, Any] | None = None,
    timeout_seconds: Timeout | None = None,
) -> YieldRequest:
    """Ask a person and wait for the answer. Use it when you need a decision, a fact or an opinion that only a person
    can give; say everything they need to know to answer. The wait may take hours. The result is {"response": …}; or
    {"timed_out": true, "elapsed_seconds": …} if nobody answered in time; or {"cancelled": true, "reason": …, "by": …,
    "elapsed_seconds": …} if a person called the question off.

    Args:
        prompt: What the person reads, 1 to 8000 characters.
        response_schema: A JSON Schema (draft 2020-12) the answer must fit. Leave it out for an answer in free text.
        timeout_seconds: How long to wait, above 0 and up to 30 days. Leave it out for the usual time.
    """
    if not prompt.strip():
        raise ToolError("The prompt is blank: say what the person should answer.")
    if response_schema is not None:
        try:
            check_schema(response_schema)
        except Invalid as error:
            raise ToolError(f"response_schema can't be used: {error.message}") from None
    return YieldRequest(
        kind="ask_user",
        reason="question",
        shown={"prompt": prompt},
        schema=response_schema,
        timeout_seconds=timeout_seconds,
    )


@tool(
    "system",
    effect="read",
    on_crash="rerun",
    asks_person=True,
    requires="may_ask_questions",
    settle=_settle_ask_question,
)
def ask_question(context: ToolContext, questions: Annotated[list[Question], MinLen(1), MaxLen(4)]) -> YieldRequest:
    """Ask a person one to four questions at once, each with up to four suggested options, and wait for the answers.
    Use it to choose between ways to go on. It is not for permission to run a tool: just call the tool; if that needs
    an approval, a person is asked without your doing. Options are suggestions: the answer may be any text. The result
    is {"answer": text} or {"answers": {header or question: text, or a list of texts with multi_select}}; or
    {"timed_out": true, "elapsed_seconds": …} if nobody answered in time; or {"cancelled": true, "reason": …,
    "by": …, "elapsed_seconds": …} if a person called the question off.

    Args:
        questions: One to four questions.
    """
    names = [question_key(question) for question in questions]
    for question, name in zip(questions, names, strict=True):
        if not question["question"].strip():
            raise ToolError("A question is blank: say what the person should answer.")
        if names.count(name) > 1:
            raise ToolError(f"Two questions are called {shown(name)}: give each its own header.")
    return YieldRequest(kind="ask_question", reason="question", shown={"questions": questions})


@tool("system", on_crash="rerun")
def inform_user(context: ToolContext, message: Text) -> dict[str, Any]:
    """Tell the people of this workspace something, without waiting for an answer. Use it for progress, results and
    warnings a person should see. The result is {"delivered_to": how many members and channels got it}.

    Args:
        message: What they read, 1 to 8000 characters.
    """
    if not message.strip():
        raise ToolError("The message is blank.")
    return {"delivered_to": context.inform(message)}


@tool("system", effect="read", on_crash="rerun", concurrency_safe=True)
def get_datetime(context: ToolContext, timezone: Annotated[str, MinLen(1), MaxLen(64)] | None = None) -> dict[str, str]:
    """Tell the date and time now, in UTC and in a time zone. The result is {"utc", "local", "timezone", "weekday"};
    both times are ISO 8601 to the second, the weekday is that of the local time.

    Args:
        timezone: An IANA name such as Europe/Zurich. Leave it out for UTC.
    """
    name = "UTC" if timezone is None else timezone
    if name not in _zones():
        near = get_close_matches(name, _zones(), n=1)
        raise ToolError(f"There is no time zone {shown(name)}." + (f" Did you mean {near[0]}?" if near else ""))
    now = clock.now().replace(microsecond=0)
    local = now.astimezone(ZoneInfo(name))
    return {
        "utc": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "local": local.isoformat(),
        "timezone": name,
        "weekday": local.strftime("%A"),
    }


@cache
def _zones() -> frozenset[str]:
    # Asked before ZoneInfo, which would try to open any name as a file below the zones' folder.
    return frozenset(available_timezones())


toolset = Toolset(
    "system",
    "Ask and tell people, and know the time.",
    (ask_user, ask_question, inform_user, get_datetime),
)
