"""The one command on a database and a broker of the operator's own."""

import os
from collections.abc import Callable, Iterator

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.stack import Stack

pytestmark = pytest.mark.stack


@pytest.fixture
def external() -> Iterator[dict[str, str]]:
    """A fresh database on the tests' server, and other database numbers of the tests' Valkey."""
    server, name = os.environ["DATABASE_URL"], f"layby_external_{os.getpid()}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    valkey = os.environ["REDIS_URL"].replace("db=0", "db=4")
    yield {"DATABASE_URL": make_conninfo(server, dbname=name), "REDIS_URL": valkey}
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_services_of_the_operator_are_used_and_left_alone(
    make_stack: Callable[..., Stack], external: dict[str, str]
) -> None:
    stack = make_stack(env={**external, "LAYBY_PUBLIC_URL": "https://layby.example.org"}).start()
    assert stack.call("GET", "/readyz")[1]["status"] == "ready"
    assert "postgres ready" not in stack.log
    assert not (stack.data / "postgres").exists()
    assert not (stack.data / "valkey").exists()
    assert len(stack.token()) > 20
    stack.stop()
    with psycopg.connect(external["DATABASE_URL"]) as connection:
        row = connection.execute("SELECT count(*) FROM workspaces_user").fetchone()
    assert row == (1,)
