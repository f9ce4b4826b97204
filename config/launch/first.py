"""What `up` does to the database before anybody uses it: migrations, and the first run on an empty one.

The only part of the launcher that uses Django's database connection; it gives it up before processes are started.
"""

import io
from collections.abc import Callable

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import connections, transaction
from django.utils.module_loading import import_string

FirstRun = Callable[..., None]


def migrate() -> str:
    """Bring the schema up to date; returns a line about it."""
    written = io.StringIO()
    call_command("migrate", interactive=False, verbosity=1, no_color=True, stdout=written)
    done = written.getvalue().count("... OK")
    return f"schema brought up to date ({done} migrations)" if done else "schema is up to date"


def first_run(*, no_demo: bool) -> list[str]:
    """On a database without people: what settings.FIRST_RUN makes, all or nothing. Returns the lines to show, once."""
    if get_user_model()._default_manager.exists():
        return []
    lines: list[str] = []
    with transaction.atomic():
        for path in settings.FIRST_RUN:
            import_string(path)(lines.append, no_demo)
    return lines


def forget_connections() -> None:
    """Close every connection and end the pool's threads: processes are forked from a process with one thread."""
    for connection in connections.all(initialized_only=True):
        connection.close()
        connection.close_pool()  # type: ignore[attr-defined]
