"""The one place that writes a session's state: one verb per edge of `states.EDGES`.

Grouped by what they are about: begin (start), claim (claim, reclaim, release), record (replies, calls, results), park
(open, park), resolve, close (finish, fail, cancel, overdue), hold (pause, resume, retry, steer), attention (set aside),
publish (events). `rows` holds the lock, the fenced write and the one rule of waking.
"""

from sessions.engine.store.attention import set_aside
from sessions.engine.store.begin import NewSession, start
from sessions.engine.store.claim import Claim, claim, reclaim, release, stranded
from sessions.engine.store.close import cancel, fail, fail_overdue, finish
from sessions.engine.store.hold import pause, pause_here, resume, retry, steer
from sessions.engine.store.park import NewWait, open_waits, park, park_asking
from sessions.engine.store.publish import Published, match, publish
from sessions.engine.store.record import (
    NewCall,
    Result,
    late_result,
    note,
    record_reply,
    record_results,
    rerun,
    start_calls,
    take_steers,
)
from sessions.engine.store.resolve import Resolution, resolve

__all__ = [
    "Claim",
    "NewCall",
    "NewSession",
    "NewWait",
    "Published",
    "Resolution",
    "Result",
    "cancel",
    "claim",
    "fail",
    "fail_overdue",
    "finish",
    "late_result",
    "match",
    "note",
    "open_waits",
    "park",
    "park_asking",
    "pause",
    "pause_here",
    "publish",
    "reclaim",
    "record_reply",
    "record_results",
    "release",
    "rerun",
    "resolve",
    "resume",
    "retry",
    "set_aside",
    "start",
    "start_calls",
    "steer",
    "stranded",
    "take_steers",
]
