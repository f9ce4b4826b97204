"""A workspace's files: whole or not at all, never a lost update, bounded."""

import hashlib
import os
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from workspaces import handles
from workspaces.errors import AlreadyExists, Invalid, TooLarge
from workspaces.files import MAX_FILE_BYTES, MISSING, WorkspaceFiles
from workspaces.paths import ChangedMeanwhile, FolderNotEmpty, NoSpace, NoSuchFile, NotText, PathRefused


@pytest.fixture
def files(data_folder) -> WorkspaceFiles:
    return WorkspaceFiles("acme")


def on_disk(files: WorkspaceFiles) -> list[str]:
    home = files.base / files.slug
    return sorted(str(path.relative_to(home)) for path in home.rglob("*"))


def test_a_new_workspace_has_an_empty_folder(files):
    assert files.list() == []
    assert list(files.walk()) == []


def test_a_file_is_written_with_its_folders_and_read_back(files):
    entry = files.write("notes/2026/a.txt", "é\n".encode())
    assert (entry.name, entry.path, entry.kind, entry.size) == ("a.txt", "notes/2026/a.txt", "file", 3)
    assert abs((datetime.now(UTC) - entry.mtime).total_seconds()) < 60
    assert files.read_text("notes//./2026/a.txt/") == "é\n"
    assert files.stat("notes/2026/a.txt") == entry
    assert files.fingerprint("notes/2026/a.txt") == hashlib.sha256("é\n".encode()).hexdigest()
    assert [entry.path for entry in files.walk()] == ["notes", "notes/2026", "notes/2026/a.txt"]


def test_writing_again_replaces_the_whole_and_keeps_the_mode(files):
    files.write("run.sh", b"long long long")
    (files.base / "acme" / "run.sh").chmod(0o755)
    files.write("run.sh", b"short")
    assert files.read_bytes("run.sh") == b"short"
    assert (files.base / "acme" / "run.sh").stat().st_mode & 0o777 == 0o755


def test_a_reader_who_has_it_open_sees_the_old_file_to_its_end(files):
    files.write("a", b"old")
    with files.open_for_read("a") as file:
        files.write("a", b"new")
        assert file.read() == b"old"


def test_too_large_is_refused_while_it_comes_and_leaves_nothing(files):
    files.write("big", b"before")
    sent = 0

    def gigabyte():
        nonlocal sent
        for _ in range(1024):
            sent += 1
            yield b"\0" * 1024 * 1024

    with pytest.raises(TooLarge):
        files.write("big", gigabyte())
    assert sent == 26
    assert files.read_bytes("big") == b"before"
    assert on_disk(files) == ["big"]


def test_exactly_25_mib_fit(files):
    assert files.write("big", b"x" * MAX_FILE_BYTES).size == MAX_FILE_BYTES
    with pytest.raises(TooLarge):
        files.write("big", b"x" * (MAX_FILE_BYTES + 1))


def test_a_sender_who_breaks_off_leaves_nothing(files):
    def breaks():
        yield b"half"
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        files.write("a", breaks())
    assert on_disk(files) == []


def test_a_full_disk_is_a_clear_error_and_keeps_the_old_file(files, monkeypatch):
    files.write("a", b"old")

    def full(descriptor, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(handles.os, "write", full)
    with pytest.raises(NoSpace):
        files.write("a", b"new")
    monkeypatch.undo()
    assert files.read_bytes("a") == b"old"
    assert on_disk(files) == ["a"]


def test_reading_stops_at_its_bound(files):
    files.write("a", b"12345")
    assert files.read_bytes("a", 5) == b"12345"
    with pytest.raises(TooLarge):
        files.read_bytes("a", 4)


@pytest.mark.parametrize("data", [b"a\x00b", b"\xff\xfe", b"ok \xe9"])
def test_a_binary_file_is_not_read_as_text(files, data):
    files.write("bin", data)
    with pytest.raises(NotText, match="bin is not a text file"):
        files.read_text("bin")
    with pytest.raises(NotText):
        files.edit("bin", "a", "b")


def test_what_is_missing_is_said_so(files):
    for act in (files.read_bytes, files.list, files.stat, files.delete, files.fingerprint):
        with pytest.raises(NoSuchFile):
            act("nothing/here")
    with pytest.raises(NoSuchFile):
        files.edit("nothing", "a", "b")


def test_a_folder_is_not_a_file_and_a_file_is_not_a_folder(files):
    files.write("d/f", b"x")
    for act in (lambda: files.read_bytes("d"), lambda: files.write("d", b"x")):
        with pytest.raises(PathRefused, match="d is a folder"):
            act()
    for act in (lambda: files.list("d/f"), lambda: files.write("d/f/g", b"x"), lambda: files.make_folder("d/f")):
        with pytest.raises(PathRefused, match="d/f is a file, not a folder"):
            act()
    for act in (lambda: files.write("", b"x"), lambda: files.read_bytes("."), lambda: files.delete("")):
        with pytest.raises(PathRefused):
            act()


def test_an_update_that_would_be_lost_is_refused(files):
    files.write("a", b"one", expected=MISSING)
    read = files.fingerprint("a")
    files.write("a", b"two", expected=read)
    with pytest.raises(ChangedMeanwhile):
        files.write("a", b"three", expected=read)
    with pytest.raises(AlreadyExists):
        files.write("a", b"three", expected=MISSING)
    assert files.read_bytes("a") == b"two"
    files.delete("a")
    with pytest.raises(ChangedMeanwhile):
        files.write("a", b"three", expected=read)
    assert on_disk(files) == []


def test_of_many_who_save_over_the_same_reading_one_wins(files):
    files.write("a", b"start")
    read = files.fingerprint("a")
    won: list[int] = []
    start = threading.Barrier(8)

    def save(number: int) -> None:
        start.wait(5)
        try:
            files.write("a", b"by %d" % number, expected=read)
            won.append(number)
        except ChangedMeanwhile:
            pass

    threads = [threading.Thread(target=save, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert len(won) == 1
    assert files.read_bytes("a") == b"by %d" % won[0]
    assert on_disk(files) == ["a"]


def test_edits_at_the_same_time_are_all_kept(files):
    files.write("a", "".join(f"[{number}]" for number in range(8)).encode())
    threads = [threading.Thread(target=files.edit, args=("a", f"[{number}]", f"<{number}>")) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert files.read_text("a") == "".join(f"<{number}>" for number in range(8))


def test_an_edit_wants_its_text_there_once(files):
    files.write("a", b"one two two")
    assert files.edit("a", "one", "1") == 1
    with pytest.raises(Invalid, match="not in a"):
        files.edit("a", "three", "3")
    with pytest.raises(Invalid, match="2 times in a"):
        files.edit("a", "two", "2")
    with pytest.raises(Invalid):
        files.edit("a", "", "x")
    with pytest.raises(Invalid):
        files.edit("a", "1", "\ud800")
    assert files.edit("a", "two", "2", replace_all=True) == 2
    assert files.read_text("a") == "1 2 2"
    assert on_disk(files) == ["a"]


def test_a_folder_is_deleted_when_it_is_empty(files):
    files.write("d/f", b"x")
    with pytest.raises(FolderNotEmpty):
        files.delete("d")
    files.delete("d/f")
    files.delete("d")
    assert on_disk(files) == []


def test_a_half_written_file_is_never_shown_and_goes_with_time(files):
    files.write("d/f", b"x")
    stale = files.base / "acme" / "d" / ".layby-00.part"
    stale.write_bytes(b"half")
    assert [entry.name for entry in files.list("d")] == ["f"]
    assert [entry.path for entry in files.walk()] == ["d", "d/f"]
    assert stale.exists()
    os.utime(stale, (0, 0))
    files.list("d")
    assert not stale.exists()


def test_a_half_written_file_does_not_keep_a_folder_from_being_deleted(files):
    files.make_folder("d")
    (files.base / "acme" / "d" / ".layby-00.part").write_bytes(b"half")
    files.delete("d")
    assert on_disk(files) == []


def test_workspaces_have_folders_of_their_own(files):
    files.write("a", b"x")
    assert WorkspaceFiles("other").list() == []


def open_handles() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts them in Linux' /proc")
def test_no_handle_stays_open(files):
    files.write("d/f", b"x")
    before = open_handles()
    for _ in range(20):
        files.list("d")
        files.read_bytes("d/f")
        files.write("d/f", b"y")
        list(files.walk())
        for act in (lambda: files.read_bytes("d/g"), lambda: files.read_bytes("d"), lambda: files.list("d/f")):
            with pytest.raises((NoSuchFile, PathRefused)):
                act()
    assert open_handles() == before
