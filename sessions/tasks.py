"""Celery's doors into the runtime. A task takes nothing or ids, calls one function, has no logic."""

from celery import shared_task

from sessions import hints
from sessions.engine import process, runner


@shared_task(name=hints.WORK, ignore_result=True)  # type: ignore[untyped-decorator]
def work() -> None:
    """Drive what is claimable until nothing is."""
    current = process.current()
    if current is not None:
        runner.work(current)
