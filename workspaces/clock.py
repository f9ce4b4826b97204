"""The two clocks. Lives here: reading the time; nothing that waits.

`now` is this process's clock, for records and pages; tests may freeze it. `db_now` is the database's: whatever is
compared between processes (due times, deadlines, leases) uses that one, because hosts disagree.
"""

from datetime import UTC, datetime

from django.db import connection


def now() -> datetime:
    """This process's time, aware, in UTC."""
    return datetime.now(UTC)


def db_now() -> datetime:
    """The database's time at this very statement (`clock_timestamp()`, which moves inside a transaction), in UTC."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (at,) = cursor.fetchone()
    assert isinstance(at, datetime)
    return at.astimezone(UTC)
