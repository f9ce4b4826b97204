"""From a frame's memory to the transcript a model reads: every call with exactly one result, in the model's order."""

from sessions.contracts import TranscriptCall, TranscriptMessage
from sessions.engine.memory import Memory
from sessions.states import CallStatus

# A result that should be there and is not would make a strict provider refuse the session for ever.
LOST = "There is no result of this call."


def transcript(memory: Memory) -> tuple[TranscriptMessage, ...]:
    """The whole conversation of a frame. Steers follow their turn; open calls must have been settled before."""
    messages = []
    for message in memory.messages:
        calls: tuple[TranscriptCall, ...] = ()
        if message.role == "assistant":
            calls = tuple(
                TranscriptCall(
                    str(call.id), call.tool, call.arguments, call.result or LOST, call.status is CallStatus.SUCCEEDED
                )
                for call in memory.calls.get(message.turn, ())
            )
        role = "assistant" if message.role == "assistant" else "user"
        messages.append(TranscriptMessage(role, message.text, calls, message.extra))  # type: ignore[arg-type]
    return tuple(messages)
