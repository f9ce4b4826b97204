"""How the store's verbs talk to Postgres: raw statements with a name and an address, over Django's connection.

The same connection as the ORM's, so a verb joins the transaction it is called in. Lean: psycopg's own cursor, whose
statements Postgres parses once per connection; Django's cursor writes the values into the text each time, which costs
more than most of these statements. Where queries are captured or wrapped (tests, DEBUG),
Django's cursor is used.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from django.db import InterfaceError, OperationalError, connection, transaction

Params = Mapping[str, Any] | Sequence[Any]
Row = tuple[Any, ...]


@contextmanager
def _cursor() -> Iterator[Any]:
    if connection.queries_logged or connection.execute_wrappers:
        with connection.cursor() as cursor:
            yield cursor
        return
    connection.ensure_connection()
    connection.validate_no_broken_transaction()
    with connection.wrap_database_errors:
        yield psycopg.Cursor(connection.connection)


def execute(statement: str, params: Params = ()) -> int:
    """Run *statement*; the number of rows it touched."""
    with _cursor() as cursor:
        cursor.execute(statement, params)
        return int(cursor.rowcount)


def fetch(statement: str, params: Params = ()) -> list[Row]:
    """Run *statement*; its rows."""
    with _cursor() as cursor:
        cursor.execute(statement, params)
        return list(cursor.fetchall())


def fetch_one(statement: str, params: Params = ()) -> Row | None:
    """Run *statement*; its first row, or None."""
    with _cursor() as cursor:
        cursor.execute(statement, params)
        row: Row | None = cursor.fetchone()
        return row


def on_commit(call: Callable[[], Any]) -> None:
    """Run *call* after the commit; what it raises is logged and never undoes anything."""
    transaction.on_commit(call, robust=True)


# Classes of SQLSTATE that say nothing about the statement: no connection, no room, the server is stopped or recovers.
_AWAY = ("08", "53", "57P")


def database_away(error: Exception) -> bool:
    """Whether *error* means that the database was away, and not that it refused what was asked."""
    state = getattr(error.__cause__, "sqlstate", None)
    return isinstance(error, OperationalError | InterfaceError) and (state is None or state.startswith(_AWAY))


def release_connection() -> None:
    """Give the connection back to the pool before something slow. Inside a transaction: keep it (tests)."""
    if not connection.in_atomic_block:
        connection.close()
