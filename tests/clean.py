"""Empty the tables after a transactional test, fast: only those that hold rows, and no post-migrate round.

Django's flush truncates every table and creates permissions anew, about a second a test. Constraints and the
append-only triggers are off for this one statement's connection only (`session_replication_role`), which needs a
superuser; without that right Django's own flush is used.
"""

from typing import Any

from django.db import connection, transaction
from django.test import TransactionTestCase

# Made by migrations: a test that changes these would be wrong.
KEPT = {"django_migrations", "django_content_type", "auth_permission"}

_django_teardown = TransactionTestCase._fixture_teardown


def _teardown(self: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
        if not cursor.fetchone()[0]:
            _django_teardown(self)
            return
        tables = sorted(set(connection.introspection.table_names(cursor)) - KEPT)
        cursor.execute(" UNION ALL ".join(f"(SELECT '{t}' FROM \"{t}\" LIMIT 1)" for t in tables))
        filled = [row[0] for row in cursor.fetchall()]
        with transaction.atomic():
            cursor.execute("SET LOCAL session_replication_role = replica")
            for table in filled:
                cursor.execute(f'DELETE FROM "{table}"')


def install() -> None:
    """Use it for every transactional test."""
    TransactionTestCase._fixture_teardown = _teardown
