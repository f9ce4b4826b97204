"""The road every session goes: claim, load its rows, drive. The same for a start, a wake and a reclaim."""

import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.utils.module_loading import import_string

from sessions.engine import store
from sessions.engine.lease import LeaseLost, Paused, Unwind
from sessions.engine.process import Process
from sessions.engine.run import Run
from sessions.engine.sql import database_away, release_connection

log = structlog.get_logger(__name__)


def work(process: Process) -> int:
    """Drive sessions one after another until none is claimable or the process stops; how many."""
    driven = 0
    try:
        while not process.stopping.is_set() and process.lease_holds():
            claim = store.claim(process.boot_id)
            if claim is None:
                break
            if claim.more:
                process.spread()
            with process.driving(claim.lease.session, claim.lease.fence):
                drive(process, claim)
            driven += 1
    finally:
        release_connection()
    return driven


def drive(process: Process, claim: store.Claim) -> None:
    """Drive one claimed session until its rows say it is somewhere else. Never raises for what a session does."""
    session, lease = claim.lease.session, claim.lease
    structlog.contextvars.bind_contextvars(session=str(session))
    try:
        run = Run(process, claim)
        try:
            import_string(settings.DRIVERS[claim.kind])().drive(run)
            log.error("driver_returned_without_an_edge")
        except Paused:
            store.pause_here(lease, run.frontier())
    except LeaseLost:
        log.info("lease_lost")
    except Unwind:
        pass
    except (OperationalError, InterfaceError) as error:
        # The database is away. The session is still ours by its row; the timekeeper gives it back when it can.
        if database_away(error):
            process.interrupted(session, lease.fence)
        log.warning("drive_interrupted", error=type(error).__name__)
    except Exception:
        log.exception("drive_failed")
        try:
            store.reclaim(session, process.boot_id, fence=lease.fence, certain=True, why="error")
        except (OperationalError, InterfaceError):
            log.warning("drive_not_given_back")
    finally:
        release_connection()
        structlog.contextvars.unbind_contextvars("session")
