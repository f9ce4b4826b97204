"""The gauges of /metrics, computed from the rows when asked, so that they are right across processes.

May not: count the rows of a large table. Every number is of open things, which a partial index covers.
"""

from django.db import connection
from prometheus_client import CollectorRegistry, Gauge

from config.health import broker_answers

# Name, help, label, statement with one row per label value. A table that isn't there yet gives no rows.
GAUGES = [
    (
        "layby_sessions",
        "Sessions that have not ended, by state",
        "state",
        "agent_sessions_session",
        "SELECT state, count(*) FROM agent_sessions_session"
        " WHERE state IN ('queued', 'running', 'resumable', 'paused') GROUP BY state",
    ),
    (
        "layby_workers",
        "Worker processes whose lease has not run out",
        "state",
        "agent_sessions_worker",
        "SELECT CASE WHEN stopping THEN 'stopping' ELSE 'alive' END, count(*) FROM agent_sessions_worker"
        " WHERE alive_until > clock_timestamp() GROUP BY 1",
    ),
]


def registry() -> CollectorRegistry:
    """A fresh registry with the numbers of this moment."""
    made = CollectorRegistry()
    with connection.cursor() as cursor:
        present = set(connection.introspection.table_names(cursor))
        for name, text, label, table, statement in GAUGES:
            gauge = Gauge(name, text, [label], registry=made)
            if table in present:
                cursor.execute(statement)
                for value, count in cursor.fetchall():
                    gauge.labels(value).set(count)
    Gauge("layby_broker_up", "Whether the broker answers (1) or not (0)", registry=made).set(broker_answers())
    return made
