"""From the outcome of a wait to the result the model reads. Pure."""

from typing import Any

from sessions.contracts import Tool, ToolError, WaitOutcome
from sessions.engine.limits import HARD_RESULT_BYTES, shorten
from sessions.engine.memory import WaitRow
from sessions.states import CallStatus, Outcome
from workspaces.values import canonical, clean_text, sanitise

STATUS = {
    Outcome.ANSWERED: CallStatus.SUCCEEDED,
    Outcome.APPROVED: CallStatus.SUCCEEDED,
    Outcome.FIRED: CallStatus.SUCCEEDED,
    Outcome.REJECTED: CallStatus.REJECTED,
    Outcome.TIMED_OUT: CallStatus.TIMED_OUT,
    Outcome.CANCELLED: CallStatus.CANCELLED,
}


def settled(wait: WaitRow, tool: Tool | None) -> tuple[CallStatus, Any]:
    """(status, value for the model) of a call whose wait has an outcome."""
    outcome = Outcome(wait.outcome or "")
    payload = wait.payload if isinstance(wait.payload, dict) else {}
    if wait.phase == "unknown" and outcome is Outcome.ANSWERED:
        said = payload.get("result")
        if payload.get("outcome") == "succeeded":
            return CallStatus.SUCCEEDED, said if said is not None else "A person found that it had succeeded."
        return CallStatus.FAILED, said if said is not None else "A person found that it had failed."
    if wait.phase == "unknown":
        # Never as if nothing had been done: nobody has said how the call ended.
        who = wait.by.get("by") or wait.by.get("name") or "the system"
        why = f" ({payload['reason']})" if payload.get("reason") else ""
        said = f"It was interrupted while it ran and may have had effects. {who} cancelled the question about it{why}."
        return STATUS[outcome], said
    if outcome is Outcome.REJECTED:
        return (
            CallStatus.REJECTED,
            f"Refused by {wait.by.get('name', 'a person')}: {payload.get('reason') or 'no reason given'}",
        )
    found = WaitOutcome(
        outcome=str(outcome),
        payload=wait.payload,
        by=wait.by.get("by") or wait.by.get("name", ""),
        reason=str(payload.get("reason", "")),
        elapsed_seconds=wait.elapsed,
    )
    if tool is not None and tool.settle is not None and wait.phase == "body":
        try:
            return STATUS[outcome], tool.settle(found)
        except ToolError as error:
            return CallStatus.FAILED, str(error)
    return STATUS[outcome], default(found)


def default(found: WaitOutcome) -> Any:
    """What the model reads when its tool has no words of its own."""
    if found.outcome == Outcome.TIMED_OUT:
        return {"timed_out": True, "elapsed_seconds": found.elapsed_seconds}
    if found.outcome == Outcome.CANCELLED:
        said = {"reason": found.reason, "by": found.by, "elapsed_seconds": found.elapsed_seconds}
        return {"cancelled": True, **said}
    return found.payload


def text_of(value: Any, limit: int | None) -> tuple[str, bytes | None]:
    """*value* as the text a model reads (text as it is, else canonical JSON), and the whole if it was shortened."""
    clean, _ = sanitise(value)
    text = clean_text(clean) if isinstance(clean, str) else canonical(clean)
    if len(text) > HARD_RESULT_BYTES:
        raise ToolError(f"The result is larger than {HARD_RESULT_BYTES // 1024 // 1024} MiB. Ask for less of it.")
    return shorten(text, limit)
