"""Room on the pages of hot rows, so that their updates stay on the page (heap-only tuples)."""

from django.db import migrations

FILLFACTORS = {"agent_sessions_session": 80, "agent_sessions_yield": 80, "agent_sessions_worker": 50}


class Migration(migrations.Migration):
    dependencies = [("agent_sessions", "0001_initial")]

    operations = [
        migrations.RunSQL(
            f"ALTER TABLE {table} SET (fillfactor = {percent})",
            f"ALTER TABLE {table} RESET (fillfactor)",
        )
        for table, percent in FILLFACTORS.items()
    ]
