"""The limits of a session and the codes it fails with. `model_calls` and running time count since the last wake."""

from sessions.definitions import Limits
from sessions.engine.lease import Lease

HARD_RESULT_BYTES = 20 * 1024 * 1024


def reached(limits: Limits, lease: Lease) -> tuple[str, str] | None:
    """(code, sentence) of the limit that the session has reached before another model call, or None."""
    if limits.model_calls is not None and lease.model_calls >= limits.model_calls:
        return "limit_model_calls", f"It made {lease.model_calls} model calls since the last wake (limit model_calls)."
    return over_time(limits, lease)


def over_time(limits: Limits, lease: Lease) -> tuple[str, str] | None:
    """(code, sentence) if the session has run longer than it may since the last wake, or None."""
    if limits.running_seconds is not None and lease.running_ms >= limits.running_seconds * 1000:
        seconds = f"{lease.running_ms / 1000:.0f}"
        return "limit_running_seconds", f"It ran for {seconds} s since the last wake (limit running_seconds)."
    return None


def shorten(text: str, limit: int | None) -> tuple[str, bytes | None]:
    """*text* as the model may see it, and the whole as bytes if it had to be shortened (to *limit* bytes of UTF-8)."""
    raw = text.encode()
    if limit is None or len(raw) <= limit:
        return text, None
    note = f"\n[… shortened: {len(raw)} bytes in all, the first and last part are shown; the whole is kept …]\n"
    room = max(limit - len(note.encode()), 0)
    head, tail = raw[: room * 3 // 4], raw[len(raw) - room // 4 :] if room // 4 else b""
    return head.decode(errors="ignore") + note + tail.decode(errors="ignore"), raw
