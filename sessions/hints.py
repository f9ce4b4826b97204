"""Hints: "there may be work". Losing every one of them costs latency, never work: the timekeeper finds the rows.

A hint carries no id and no state. It never raises and never blocks for long.
"""

import structlog
from celery import current_app

WORK = "sessions.work"

log = structlog.get_logger(__name__)


def work() -> None:
    """Tell one worker slot to look for claimable sessions. Called on commit."""
    try:
        current_app.send_task(WORK, retry=False, ignore_result=True)
    except Exception as error:  # noqa: BLE001 - the broker is down: the sweep finds the session soon
        log.warning("hint_not_sent", error=type(error).__name__)
