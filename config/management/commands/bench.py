"""`manage.py bench`: measure this Layby on this machine, on throw-away services, beside the raw floor."""

import json
import shutil
import signal
import subprocess
import sys
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from config import env
from config.bench import floor, measure, numbers
from config.launch.children import LaunchError, spawn
from config.launch.processes import child_environment
from config.launch.services import Services

TRIALS = 100
CROWD_BODY_BYTES = 200


class Command(BaseCommand):
    """Parks and resumes per second, wake latency, bytes per parked session, memory and connections of the worker."""

    help = "Measure parks, resumes and wakes on throw-away services, with the raw floor beside them."
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--sessions", type=int, default=2000, help="sessions of the load (default 2000)")
        parser.add_argument("--parked", type=int, default=20_000, help="others that stand parked meanwhile")
        parser.add_argument("--workers", type=int, default=1, help="worker processes (default 1)")
        parser.add_argument("--slots", type=int, default=8, help="slots of each (default 8)")
        parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["sessions"] < 1 or options["parked"] < 0 or not 1 <= options["workers"] <= 16:
            raise CommandError("--sessions from 1, --parked from 0, --workers from 1 to 16.")
        self.quiet = options["json"]
        services = Services(settings.DATA, self.say)
        workers: list[subprocess.Popen[bytes]] = []
        try:
            urls = services.start()
            env.agree_with_services()
            call_command("migrate", verbosity=0)
            found = self._measure(urls, workers, options)
        except (LaunchError, TimeoutError) as error:
            raise CommandError(str(error)) from None
        finally:
            for worker in workers:
                worker.send_signal(signal.SIGKILL)
                worker.wait()
            connection.close()
            services.stop()
            shutil.rmtree(settings.DATA, ignore_errors=True)
        self.stdout.write(json.dumps(found) if self.quiet else numbers.table(found))

    def say(self, text: str) -> None:
        """One line on the way, unless only the document is wanted."""
        if not self.quiet:
            self.stderr.write(text)

    def _measure(
        self, urls: dict[str, str], workers: list[subprocess.Popen[bytes]], options: dict[str, Any]
    ) -> dict[str, Any]:
        place = measure.prepare()
        sessions = options["sessions"]
        self.say("the floor: raw psycopg")
        beneath = floor.floor(urls["DATABASE_URL"], sessions, "x" * measure.HISTORY_BYTES, TRIALS)
        workers += [self._worker(urls, number, options["slots"]) for number in range(1, options["workers"] + 1)]
        self._until_alive(len(workers))
        measure.wakes(place, 5)  # imports and pools are warm
        completed = 5
        self.say(f"{TRIALS} single wakes")
        alone = measure.wakes(place, TRIALS)
        completed += TRIALS
        measure.until("completed", completed)
        idle = _resident(workers)
        self.say(f"{sessions} sessions park and resume")
        rates = measure.run(place, sessions, completed)
        self.say(f"{options['parked']} others parked, {TRIALS} single wakes")
        measure.crowd(place, options["parked"], CROWD_BODY_BYTES, self.say)
        crowded = measure.wakes(place, TRIALS)
        return {
            "sessions": sessions,
            "parked": options["parked"],
            "workers": options["workers"],
            **rates,
            "wake_ms": alone,
            "wake_parked_ms": crowded,
            "worker_rss_mb": idle,
            "worker_rss_parked_mb": _resident(workers),
            "worker_connections": _connections(),
            "floor": beneath,
        }

    def _worker(self, urls: dict[str, str], number: int, slots: int) -> subprocess.Popen[bytes]:
        settings_module = "config.bench.settings"
        more = {**urls, "LAYBY_DATA": str(settings.DATA), "DJANGO_SETTINGS_MODULE": settings_module}
        more |= {"LAYBY_SLOTS": str(slots), "LAYBY_LOG_LEVEL": "WARNING"}
        name = f"worker-{number}"
        celery = ["-m", "celery", "-A", "config", "--quiet", "worker", "-P", "threads", "-c", str(slots)]
        return spawn(
            [
                sys.executable,
                *celery,
                "-n",
                f"{name}@%h",
                "--without-gossip",
                "--without-mingle",
                "--loglevel",
                "WARNING",
            ],
            death_signal=signal.SIGKILL,
            cwd=Path(settings.BASE_DIR),
            env=child_environment(name, more),
            output=subprocess.DEVNULL,
        )

    def _until_alive(self, count: int, seconds: float = 60) -> None:
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            with connection.cursor() as cursor:
                cursor.execute("SELECT count(*) FROM agent_sessions_worker WHERE alive_until > clock_timestamp()")
                if cursor.fetchone()[0] >= count:
                    return
            time.sleep(0.1)
        raise CommandError("The worker process did not start.")


def _resident(workers: list[subprocess.Popen[bytes]]) -> float:
    """Resident memory of all worker processes in MB."""
    pages = sum(int(Path(f"/proc/{w.pid}/statm").read_text().split()[1]) for w in workers)
    return round(pages * 4096 / 1e6, 1)


def _connections() -> int:
    """Connections to the database beside our own."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        return int(cursor.fetchone()[0])
