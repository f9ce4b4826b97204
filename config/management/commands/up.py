"""`manage.py up`: everything that Layby needs, in one command.

Lives here: the order of the steps and their lines. How services and processes are started is config.launch's.
Invariant: from the first child on, whatever happens ends in `stop`, and a kill of this process ends all children.
"""

import os
import signal
import socket
import sys
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils.module_loading import import_string

from config import env
from config.launch import STARTED, first, statics
from config.launch.children import LaunchError, spawn
from config.launch.processes import Child, Signals, Stopped, Supervisor, child_environment
from config.launch.ready import Standing
from config.launch.services import Lock, Services

COMMAND_SECONDS = 60.0
"""How long a start waits for another command that has the data folder's services for itself."""


class Command(BaseCommand):
    """Start the database, the broker, the web, the workers and the clock; stop with Ctrl-C."""

    help = "Start everything: database, broker, web, workers, clock. Ctrl-C stops it."
    requires_system_checks: list[str] = []  # the database isn't there yet
    requires_migrations_checks = False
    services: Services | None = None

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--data", help="the data folder (default: LAYBY_DATA, else .layby)")
        parser.add_argument("--host", help="the address to listen on (default 127.0.0.1)")
        parser.add_argument("--port", type=int, help="the port to listen on (default 8000; 0: any that is free)")
        parser.add_argument("--workers", type=int, default=1, help="how many worker processes (default 1)")
        parser.add_argument("--slots", type=int, help="how many sessions a worker runs at once (default 32)")
        parser.add_argument("--no-demo", action="store_true", help="no demo workspace on the first run")

    def handle(self, *args: Any, **options: Any) -> None:
        if not 1 <= options["workers"] <= 64:
            raise CommandError("--workers has to be between 1 and 64.")
        signals = Signals()
        signals.install()
        self.supervisor = Supervisor(self.say, signals)
        lock = Lock(settings.DATA)
        try:
            self._take(lock)
            self._start(options)
            signals.raising = False
            self.supervisor.watch()
        except Stopped:
            pass
        except LaunchError as error:
            raise CommandError(str(error)) from None
        finally:
            self.supervisor.stop()
            if self.services:
                self.services.forget()
            lock.give_back()
        self.say("stopped")

    def say(self, text: str) -> None:
        """One line for the person who started us, with the seconds since the start."""
        try:
            self.stdout.write(f"[{time.monotonic() - STARTED:6.1f} s] {text}")
            self.stdout.flush()
        except OSError:  # the reader of our output has gone; the work goes on
            pass

    def _take(self, lock: Lock) -> None:
        ends = time.monotonic() + COMMAND_SECONDS
        told = False
        while not lock.take("up"):
            holder = lock.holder()
            command, pid = holder.get("command", "up"), holder.get("pid", "?")
            if command == "up":
                raise LaunchError(f"Layby runs already on {settings.DATA} (process {pid}). Stop that one first.")
            if time.monotonic() > ends:
                raise LaunchError(f"`manage.py {command}` (process {pid}) is using {settings.DATA}. End it first.")
            if not told:
                told = True
                self.say(f"waiting for `manage.py {command}` (process {pid}) to end")
            time.sleep(0.1)

    def _start(self, options: dict[str, Any]) -> None:
        _port_must_be_free()
        folder = settings.DATA / "logs"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.say(f"data in {settings.DATA}")
        services = self.services = Services(settings.DATA, self.say)
        try:
            urls = services.start()
        finally:
            # Also those of a start that failed half-way: `stop` ends them.
            self._watch_services(services)
        env.agree_with_services()
        self.say(first.migrate())
        for line in first.first_run(no_demo=options["no_demo"]):
            self.say(line)
        self.say(statics.collect())
        first.forget_connections()
        self._start_processes(urls, options["workers"])
        self._wait_until_ready(urls["DATABASE_URL"])

    def _watch_services(self, services: Services) -> None:
        for service, process in services.running:  # the broker first, so it is also stopped before the database
            child = Child(
                service.name,
                service.start,
                *service.stop_signals[0],
                prepare=lambda service=service: service.end_leftovers(self.say),  # type: ignore[misc]
                last=True,
            )
            child.adopt(process)
            self.supervisor.add(child)

    def _start_processes(self, urls: dict[str, str], workers: int) -> None:
        common = {
            **urls,
            "LAYBY_DATA": str(settings.DATA),
            "LAYBY_HOST": env.HOST,
            "LAYBY_PORT": str(env.PORT),
            "LAYBY_PUBLIC_URL": settings.PUBLIC_URL,
            "LAYBY_SLOTS": str(settings.SLOTS),
            "DJANGO_SETTINGS_MODULE": os.environ["DJANGO_SETTINGS_MODULE"],
        }
        celery = ["-m", "celery", "-A", "config", "--quiet"]
        level = ["--loglevel", "INFO"]
        quiet = ["--without-gossip", "--without-mingle"]
        programs = {
            "web": ["-m", "config.web", "-v", "0", "-b", env.HOST, "-p", str(env.PORT), "config.asgi:application"],
            "beat": [*celery, "beat", "--pidfile=", "--schedule", str(settings.DATA / "beat"), *level],
        }
        for number in range(1, workers + 1):
            name = f"worker-{number}"
            pool = ["-P", "threads", "-c", str(settings.SLOTS), "-n", f"{name}@%h"]
            programs[name] = [*celery, "worker", *pool, *quiet, *level]
        for name, arguments in programs.items():
            self._add(name, arguments, common)

    def _add(self, name: str, arguments: list[str], common: dict[str, str]) -> None:
        def start() -> Any:
            return spawn(
                [sys.executable, *arguments],
                # Nothing may rest on a clean end, and nothing of ours may live on beside the next start.
                death_signal=signal.SIGKILL,
                cwd=Path(settings.BASE_DIR),
                env=child_environment(name, common),
            )

        seconds = settings.STOP_SECONDS if name.startswith("worker") else min(10.0, settings.STOP_SECONDS)
        child = Child(name, start, signal.SIGTERM, seconds)
        self.supervisor.add(child)
        self.say(f"{name} started (process {child.pid})")

    def _wait_until_ready(self, database_url: str) -> None:
        checks = [import_string(path) for path in settings.READY_CHECKS]
        told, waiting = time.monotonic(), ""
        while checks:
            self.supervisor.look()
            workers = self.supervisor.pids("worker")
            standing = Standing(env.HOST, env.PORT, settings.PUBLIC_URL, database_url, tuple(workers))
            waiting = checks[0](standing)
            if not waiting:
                checks.pop(0)
            elif time.monotonic() - told > 10:
                told = time.monotonic()
                self.say(f"still waiting: {waiting}")
            else:
                self.supervisor.signals.wait(0.1)
        self.say("web and worker answer")
        host = f"[{env.HOST}]" if ":" in env.HOST else env.HOST
        self.stdout.write(f"layby is ready: http://{host}:{env.PORT}/")
        self.stdout.flush()


def _port_must_be_free() -> None:
    family = socket.AF_INET6 if ":" in env.HOST else socket.AF_INET
    try:
        with socket.create_server((env.HOST, env.PORT), family=family, reuse_port=False):
            pass
    except OSError as error:
        raise LaunchError(
            f"Nothing can listen on {env.HOST} port {env.PORT}: {error.strerror}."
            " Another program may have it; choose another one with --port."
        ) from None
