"""Everything a stack has stored, as text; runs in the stack, as `manage.py shell -c`.

Each table goes to a file of its own name as COPY's text; all keys and values of all databases of Valkey to `valkey`.
"""

from collections.abc import Callable
from pathlib import Path

import redis
from django.db import connection

from config import env

TABLES = "SELECT schemaname, tablename FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"


def dump(folder: str) -> None:
    """Write it into *folder*, and have the database write all its pages to its own files."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    with connection.cursor() as cursor:
        cursor.execute(TABLES)
        for schema, table in cursor.fetchall():
            with (
                (target / f"{schema}.{table}").open("wb") as file,
                cursor.copy(f'COPY "{schema}"."{table}" TO STDOUT') as rows,
            ):
                for row in rows:
                    file.write(row)
        cursor.execute("CHECKPOINT")
    with (target / "valkey").open("wb") as file:
        for number in range(16):
            _valkey(number, file.write)
    print(len(list(target.iterdir())))


def _valkey(number: int, write: Callable[[bytes], object]) -> None:
    client = redis.Redis.from_url(env.redis(number))
    for key in client.scan_iter(count=1000):
        kind = client.type(key).decode()
        value = {
            "string": client.get,
            "list": lambda k: client.lrange(k, 0, -1),
            "set": client.smembers,
            "zset": lambda k: client.zrange(k, 0, -1, withscores=True),
            "hash": client.hgetall,
            "stream": client.xrange,
        }[kind](key)
        write(repr((key, value)).encode() + b"\n")
    client.close()
