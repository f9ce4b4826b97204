"""Runs one management command with the services it needs for as long as it runs.

Only manage.py comes here; the commands themselves know nothing of services. Invariant: the environment is complete
before Django's settings are read, because `up --data` and its like decide what the settings say.
"""

import argparse
import os
import socket
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from config.launch.children import LaunchError
from config.launch.services import Use

# These need no services, or (up, bench) bring their own.
WITHOUT = {
    "",
    "bench",
    "check",
    "collectstatic",
    "diffsettings",
    "findstatic",
    "help",
    "startapp",
    "testserver",
    "up",
    "version",
}


def run(argv: Sequence[str]) -> None:
    """Run `manage.py` with *argv*; exits with a sentence where a person has to do something."""
    name = next((part for part in argv[1:2] if not part.startswith("-")), "")
    if name == "up":
        _settle(argv[2:])
    if name == "bench":
        _throw_away()
    try:
        _sane()
        if name in WITHOUT or {"--help", "-h"} & set(argv) or _external():
            _execute(argv)
        else:
            from config import env

            with Use(env.DATA, name, lambda text: print(text, file=sys.stderr)):  # noqa: T201 - a command's own words
                env.agree_with_services()
                _execute(argv)
    except LaunchError as error:
        sys.exit(str(error))


def _sane() -> None:
    from django.core.exceptions import ImproperlyConfigured

    try:
        from config import env  # it looks at every plain value of the environment

        env.database()
        env.redis(0)
        env.secret_key()
    except ImproperlyConfigured as error:
        raise LaunchError(str(error)) from None


def _external() -> bool:
    return bool(os.environ.get("DATABASE_URL") and os.environ.get("REDIS_URL"))


def _execute(argv: Sequence[str]) -> None:
    from django.core.management import execute_from_command_line
    from django.db.utils import ProgrammingError

    try:
        execute_from_command_line(list(argv))
    except ProgrammingError as error:
        if "does not exist" not in str(error):
            raise
        raise LaunchError(
            f"The database has not been set up by this version of Layby ({str(error).splitlines()[0]})."
            " Run `manage.py up` once, or `manage.py migrate`."
        ) from error


def _settle(argv: Sequence[str]) -> None:
    """Put what the options of `up` say into the environment, where the settings and the children find it."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    for option in ("data", "host", "port", "slots"):
        parser.add_argument(f"--{option}")
    given, _ = parser.parse_known_args(list(argv))
    if given.data:
        os.environ["LAYBY_DATA"] = str(Path(given.data).expanduser().absolute())
    if given.host:
        os.environ["LAYBY_HOST"] = given.host
    if given.port == "0":
        given.port = str(_free_port(os.environ.get("LAYBY_HOST", "127.0.0.1")))
    if given.port:
        os.environ["LAYBY_PORT"] = given.port
    if given.slots:
        os.environ["LAYBY_SLOTS"] = given.slots


def _throw_away() -> None:
    """A data folder and services of its own, whatever the environment says: a measurement touches nobody's data."""
    os.environ["LAYBY_DATA"] = tempfile.mkdtemp(prefix="layby-bench-")
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.bench.settings"
    for name in ("DATABASE_URL", "REDIS_URL"):
        os.environ.pop(name, None)


def _free_port(host: str) -> int:
    with socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET) as server:
        return int(server.getsockname()[1])
