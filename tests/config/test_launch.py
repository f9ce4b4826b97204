"""The embedded services: what they find, what they refuse, what they leave."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from config.launch import folders, places
from config.launch.children import LaunchError, processes_in, service_account
from config.launch.postgres import Postgres
from config.launch.processes import Child, Signals, Supervisor
from config.launch.services import Lock, Services, Use


@pytest.fixture(autouse=True)
def nothing_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.delenv("REDIS_URL", raising=False)


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    yield folder
    folders.remove_sockets(folder)


def services(data: Path, said: list[str] | None = None) -> Services:
    return Services(data, (said if said is not None else []).append, throwaway=True)


def test_it_listens_on_a_private_socket_only_and_keeps_what_was_written(data: Path) -> None:
    first = services(data)
    url = first.start()["DATABASE_URL"]
    try:
        with psycopg.connect(url) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 1 AS one")
            shown = [connection.execute(f"SHOW {name}").fetchone() for name in ("listen_addresses", "server_encoding")]
        assert shown == [("",), ("UTF8",)]
        sockets = places.socket_folder(data)
        assert sockets.stat().st_mode & 0o777 == 0o700
        assert len(str(sockets / ".s.PGSQL.5432")) < 107
    finally:
        first.stop()
    assert not sockets.exists()
    assert not processes_in(data / "postgres")
    second = services(data)
    try:
        with psycopg.connect(second.start()["DATABASE_URL"]) as connection:
            assert connection.execute("SELECT one FROM kept").fetchone() == (1,)
    finally:
        second.stop()


def test_the_words_the_schema_needs_are_there(data: Path) -> None:
    one = services(data)
    try:
        with psycopg.connect(one.start()["DATABASE_URL"]) as connection:
            for extension in ("pg_trgm", "btree_gin", "citext", "pg_stat_statements"):
                connection.execute(f"CREATE EXTENSION {extension}")
    finally:
        one.stop()


def test_a_stale_process_id_of_another_program_is_not_believed(data: Path) -> None:
    first = services(data)
    first.start()
    first.stop()
    # Our own id: a living process, and not a database.
    (data / "postgres" / "postmaster.pid").write_text(f"{os.getpid()}\n{data / 'postgres'}\n1\n5432\n/tmp\n\n")
    second = services(data)
    try:
        assert second.start()
    finally:
        second.stop()


def test_a_first_start_that_was_interrupted_is_made_again(data: Path) -> None:
    half = data / "postgres.new"
    half.mkdir(mode=0o700)
    (half / "PG_VERSION").write_text("18\n")
    one = services(data)
    try:
        assert one.start()
    finally:
        one.stop()
    assert not half.exists()


def test_data_of_an_older_version_is_refused_with_what_to_do(data: Path) -> None:
    folder = folders.private(data / "postgres", service_account())
    (folder / "PG_VERSION").write_text("17\n")
    with pytest.raises(LaunchError, match=r"is of Postgres 17, but .* brings Postgres 18.*pg_dump"):
        Postgres(data, data, service_account()).prepare()


def test_a_folder_with_something_else_in_it_is_not_made_a_database(data: Path) -> None:
    folder = folders.private(data / "postgres", service_account())
    (folder / "letter.txt").write_text("mine")
    with pytest.raises(LaunchError, match="has files in it but no database"):
        Postgres(data, data, service_account()).prepare()


def test_a_broker_that_cant_read_what_it_kept_starts_without(data: Path) -> None:
    aside = folders.private(data / "valkey", service_account())
    kept = folders.private(aside / "appendonlydir", service_account())
    (kept / "appendonly.aof.manifest").write_text("not a manifest\n")
    said: list[str] = []
    one = Services(data, said.append)
    try:
        assert one.start()
    finally:
        one.stop()
    assert any("could not read" in line for line in said)


@pytest.mark.parametrize("kind", ["file", "link", "open"])
def test_sockets_go_into_a_folder_of_ours_only(data: Path, tmp_path: Path, kind: str) -> None:
    folder = places.computed_socket_folder(data)
    if kind == "file":
        folder.write_text("")
    elif kind == "link":
        folder.symlink_to(tmp_path, target_is_directory=True)
    else:
        folder.mkdir(mode=0o777)
        folder.chmod(0o777)
    try:
        with pytest.raises(LaunchError, match="is not a private folder of ours"):
            folders.sockets(data, service_account())
    finally:
        folder.rmdir() if kind == "open" else folder.unlink()


def test_one_starter_at_a_time_and_two_commands_share_its_services(data: Path) -> None:
    held = Lock(data)
    assert held.take("up")
    assert not Lock(data).take("shell")
    assert Lock(data).holder() == {"pid": os.getpid(), "command": "up"}
    held.give_back()
    code = (
        "import sys, time; from pathlib import Path; from config.launch.services import Use\n"
        "import psycopg; from config.launch import places; data = Path(sys.argv[1])\n"
        "with Use(data, 'test', print):\n"
        "    for _ in range(20):\n"
        "        psycopg.connect(places.database_url(places.socket_folder(data))).close(); time.sleep(0.05)\n"
    )
    both = [subprocess.Popen([sys.executable, "-c", code, str(data)], stderr=subprocess.PIPE) for _ in range(2)]
    said = [process.communicate(timeout=60)[1].decode() for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert not processes_in(data / "postgres")


def test_a_command_that_fails_ends_its_services_too(data: Path) -> None:
    with pytest.raises(ZeroDivisionError), Use(data, "test", print):
        assert processes_in(data / "postgres")
        raise ZeroDivisionError
    assert not processes_in(data / "postgres")


def test_a_child_that_keeps_failing_is_started_ever_later() -> None:
    said: list[str] = []
    supervisor = Supervisor(said.append, Signals())
    supervisor.add(Child("web", lambda: subprocess.Popen(["false"])))
    child = supervisor.children[0]
    delays = []
    for _ in range(9):
        assert child.process is not None
        child.process.wait()
        supervisor.look()
        assert child.due is not None
        delays.append(round(child.due - child.started, 1))
        child.due = 0.0
        supervisor.look()
    assert delays == sorted(delays)
    assert delays[0] < 2 < delays[3] < 30 < delays[-1] + 2 < 35
    assert "exit code 1" in said[0]


def test_a_copy_of_a_data_folder_does_not_use_the_services_of_the_original(data: Path, tmp_path: Path) -> None:
    one = services(data)
    one.start()
    try:
        copy = tmp_path / "copy"
        copy.mkdir()
        (copy / "sockets").write_text((data / "sockets").read_text())
        assert places.socket_folder(data).is_dir()
        assert places.socket_folder(copy) != places.socket_folder(data)
    finally:
        one.stop()
