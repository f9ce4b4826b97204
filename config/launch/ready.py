"""When a person can use it: the checks that `up` asks until all are content (settings.READY_CHECKS).

A check takes a `Standing` and returns "" or what it waits for. It connects by itself and leaves nothing open: the
process of `up` keeps no connection and no second thread.
"""

import http.client
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

import psycopg

# An address to ask at, for one to listen on.
WILDCARDS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - asked, not bound


@dataclass(frozen=True)
class Standing:
    """What has been started, for the checks."""

    host: str
    port: int
    public_url: str
    database_url: str
    workers: tuple[int, ...]


def login_page(standing: Standing) -> str:
    """Whether the web process gives a real answer to the page that a person sees first."""
    public = urlsplit(standing.public_url)
    headers = {"Host": public.netloc, "X-Forwarded-Proto": public.scheme}
    connection = http.client.HTTPConnection(WILDCARDS.get(standing.host, standing.host), standing.port, timeout=10)
    try:
        connection.request("GET", "/accounts/login/", headers=headers)
        answer = connection.getresponse()
        body = answer.read()
    except (OSError, http.client.HTTPException):
        return "the web process doesn't listen yet"
    finally:
        connection.close()
    if answer.status != 200 or b"<form" not in body:
        return f"the login page answers with status {answer.status}"
    return ""


def worker_heartbeat(standing: Standing) -> str:
    """Whether one of our worker processes has said in the database that it lives."""
    statement = (
        "SELECT count(*) FROM agent_sessions_worker"
        " WHERE host = %s AND pid = ANY(%s) AND alive_until > clock_timestamp()"
    )
    try:
        with psycopg.connect(standing.database_url, connect_timeout=5) as connection:
            row = connection.execute(statement, (socket.gethostname(), list(standing.workers))).fetchone()
    except psycopg.errors.UndefinedTable:
        return ""
    except psycopg.Error as error:
        return f"the database doesn't answer: {error}"
    return "" if row and row[0] else "no worker process has reported yet"
