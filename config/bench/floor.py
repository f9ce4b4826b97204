"""The floor: what raw psycopg does with the same 20 KB, one transaction per park and per resume, one thread."""

import threading
import time
from typing import Any

import psycopg

from config.bench.numbers import percentiles

TABLES = """
DROP TABLE IF EXISTS bench_floor;
CREATE TABLE bench_floor (id int PRIMARY KEY, state text NOT NULL, body text NOT NULL, answer text)"""


def floor(address: str, sessions: int, body: str, trials: int) -> dict[str, Any]:
    """`{parks_per_s, resumes_per_s, wake_ms: {p50, p99}}` of *sessions* rows with *body*."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(TABLES)
        began = time.monotonic()
        for number in range(sessions):
            connection.execute("INSERT INTO bench_floor VALUES (%s, 'parked', %s)", [number, body])
        parked = time.monotonic()
        for number in range(sessions):
            with connection.transaction():
                connection.execute("SELECT body FROM bench_floor WHERE id = %s FOR NO KEY UPDATE", [number]).fetchone()
                connection.execute("UPDATE bench_floor SET state = 'done', answer = 'yes' WHERE id = %s", [number])
        resumed = time.monotonic()
        wakes = _wakes(address, connection, trials)
        connection.execute("DROP TABLE bench_floor")
    return {
        "parks_per_s": round(sessions / (parked - began), 1),
        "resumes_per_s": round(sessions / (resumed - parked), 1),
        "wake_ms": percentiles(wakes),
    }


def _wakes(address: str, connection: "psycopg.Connection[Any]", trials: int) -> list[float]:
    """Milliseconds from a committed answer until another connection, told by a thread event, has read and written."""
    answered, done = threading.Event(), threading.Event()

    def resume() -> None:
        with psycopg.connect(address, autocommit=True) as other:
            for _ in range(trials):
                answered.wait()
                answered.clear()
                with other.transaction():
                    other.execute("SELECT body FROM bench_floor WHERE id = 0 FOR NO KEY UPDATE").fetchone()
                    other.execute("UPDATE bench_floor SET state = 'done' WHERE id = 0")
                done.set()

    thread = threading.Thread(target=resume)
    thread.start()
    found = []
    for _ in range(trials):
        connection.execute("UPDATE bench_floor SET answer = 'yes', state = 'resumable' WHERE id = 0")
        began = time.monotonic()
        answered.set()
        done.wait()
        done.clear()
        found.append((time.monotonic() - began) * 1000)
    thread.join()
    return found
