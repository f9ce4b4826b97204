"""Django's migrate, without our time limits and by one process at a time."""

from typing import Any

from django.core.management.commands import migrate
from django.db import connections

# Any number, as long as nobody else takes it: "layby" in letters of the alphabet.
ADVISORY_LOCK = 12_01_25_02_25


class Command(migrate.Command):
    """The limits of settings.DATABASES are for requests; a migration of a big table may take longer."""

    def handle(self, *args: Any, **options: Any) -> None:
        connection = connections[options["database"]]
        with connection.cursor() as cursor:
            for limit in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"):
                cursor.execute(f"SET {limit} = 0")
            cursor.execute("SELECT pg_advisory_lock(%s)", [ADVISORY_LOCK])
        try:
            super().handle(*args, **options)
        finally:
            # The connection goes, not back to the pool: its lock and its limits go with it.
            connection.close()
            connection.close_pool()  # type: ignore[attr-defined]
