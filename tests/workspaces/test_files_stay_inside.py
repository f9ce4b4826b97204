"""Nothing leads out of a workspace: not a path, not a link, not a link put in place a moment too late."""

import ctypes
import os
import socket
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from workspaces.errors import Invalid, LaybyError
from workspaces.files import WorkspaceFiles
from workspaces.paths import PathRefused

SECRET = b"outside secret"


@pytest.fixture
def files(data_folder) -> WorkspaceFiles:
    files = WorkspaceFiles("acme")
    files.write("inside.txt", b"inside")
    return files


@pytest.fixture
def home(files) -> Path:
    return files.base / files.slug


@pytest.fixture
def outside(data_folder: Path) -> Path:
    folder = data_folder / "outside"
    folder.mkdir()
    (folder / "secret.txt").write_bytes(SECRET)
    return folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def everything(files: WorkspaceFiles, path: str):
    """Each way there is of using a path, by name."""
    return {
        "list": lambda: files.list(path),
        "read": lambda: files.read_bytes(path),
        "text": lambda: files.read_text(path),
        "open": lambda: files.open_for_read(path).close(),
        "fingerprint": lambda: files.fingerprint(path),
        "write": lambda: files.write(path, b"x"),
        "edit": lambda: files.edit(path, "outside", "x"),
        "grep": lambda: files.grep("outside", path),
        "walk": lambda: list(files.walk(path)),
    }


FORMS = [
    "..",
    "../outside/secret.txt",
    "a/../../outside/secret.txt",
    "./../x",
    "inside.txt/..",
    "/etc/passwd",
    "//etc/passwd",
    "/",
    "/proc/self/root/etc/passwd",
    "a\x00b",
    "inside.txt\x00",
    "\ud800",
    "a/\udfff/b",
    "n" * 256,
    "é" * 128,
    "a/" + "n" * 256 + "/b",
    "a/" * 2001 + "b",
    ".layby-0123.part",
]


@pytest.mark.parametrize("path", FORMS, ids=range(len(FORMS)))
def test_a_path_that_is_not_one_of_the_workspace_is_refused_everywhere(files, path):
    for act in everything(files, path).values():
        with pytest.raises(PathRefused):
            act()
    for act in (files.stat, files.delete, files.make_folder):
        with pytest.raises(PathRefused):
            act(path)
    assert [entry.path for entry in files.walk()] == ["inside.txt"]


@pytest.mark.parametrize("path", ["a\nb", "a\x1b[31m", "tab\t", "del\x7f", "c1\x9b"])
def test_nothing_is_made_with_control_characters_in_its_name(files, path):
    for act in (lambda: files.write(path, b""), lambda: files.make_folder(path)):
        with pytest.raises(PathRefused) as refused:
            act()
        assert refused.value.message.isprintable()


@pytest.mark.parametrize("path", ["..\\x", "~", "~root", "$HOME", "%2e%2e", "c:x", "-rf", "...", "‥"])
def test_odd_names_are_just_names(files, home, path):
    files.write(path, b"x")
    assert names(home) == sorted(["inside.txt", path])
    assert files.read_bytes(path) == b"x"


@pytest.mark.parametrize("slug", ["..", ".", "", "a/b", "../outside", "A", "acme\n"])
def test_a_workspaces_folder_has_a_slug_for_a_name(data_folder, slug):
    with pytest.raises(Invalid):
        WorkspaceFiles(slug)


@pytest.mark.parametrize("kind", ["file", "dangling", "absolute", "inner", "loop", "proc"])
def test_a_link_is_never_followed(files, home, outside, kind):
    target = {
        "file": "../../outside/secret.txt",
        "dangling": "../../outside/made.txt",
        "absolute": str(outside / "secret.txt"),
        "inner": "inside.txt",
        "loop": "link",
        "proc": "/proc/self/root/etc/passwd",
    }[kind]
    (home / "link").symlink_to(target)
    for act in everything(files, "link").values():
        with suppress(LaybyError):
            assert not act()  # grep and walk of a link find nothing
    for name in ("list", "read", "write", "edit"):
        with pytest.raises(PathRefused, match="link"):
            everything(files, "link")[name]()
    assert names(outside) == ["secret.txt"]
    assert (outside / "secret.txt").read_bytes() == SECRET
    assert (home / "inside.txt").read_bytes() == b"inside"


@pytest.mark.parametrize("target", ["../../outside", "/", "/proc/self/root", ".", "../other"])
def test_a_linked_folder_is_never_entered(files, home, outside, target):
    (home / "door").symlink_to(target)
    for path in ("door/secret.txt", "door/inside.txt", "door/etc/passwd", "door/new/deeper.txt"):
        for act in everything(files, path).values():
            with pytest.raises(PathRefused, match="link"):
                act()
    assert [entry.path for entry in files.walk()] == ["door", "inside.txt"]
    assert files.grep("outside|root").hits == []
    assert [entry.path for entry in files.glob("**")] == ["inside.txt"]
    assert names(outside) == ["secret.txt"]


def test_a_link_is_listed_as_what_it_is_and_can_be_deleted_without_its_target(files, home, outside):
    (home / "link").symlink_to(outside / "secret.txt")
    (home / "door").symlink_to(outside)
    assert {entry.name: entry.kind for entry in files.list()} == {
        "inside.txt": "file",
        "link": "other",
        "door": "other",
    }
    files.delete("link")
    files.delete("door")
    assert (outside / "secret.txt").read_bytes() == SECRET


def test_a_workspace_folder_that_is_a_link_is_refused(data_folder, outside):
    (data_folder / "workspaces").mkdir()
    (data_folder / "workspaces" / "linked").symlink_to(outside)
    with pytest.raises(PathRefused):
        WorkspaceFiles("linked").list()


def test_a_hard_link_is_not_read_and_writing_leaves_the_other_name_alone(files, home, outside):
    os.link(outside / "secret.txt", home / "hard.txt")
    for name in ("read", "text", "open", "fingerprint", "edit"):
        with pytest.raises(PathRefused, match="hard link"):
            everything(files, "hard.txt")[name]()
    assert files.grep("secret").hits == []
    files.write("hard.txt", b"mine")
    assert (outside / "secret.txt").read_bytes() == SECRET
    assert files.read_bytes("hard.txt") == b"mine"


@pytest.mark.parametrize("kind", ["fifo", "socket", "device"])
def test_what_is_not_a_regular_file_is_refused_and_does_not_block(files, home, kind):
    match kind:
        case "fifo":
            os.mkfifo(home / "odd")
        case "socket":
            before = Path.cwd()
            os.chdir(home)  # the path of a socket has 107 bytes
            try:
                with socket.socket(socket.AF_UNIX) as unix:
                    unix.bind("odd")
            finally:
                os.chdir(before)
        case _:
            try:
                os.mknod(home / "odd", 0o600 | 0o020000, os.makedev(1, 3))
            except PermissionError:
                pytest.skip("only root makes a device")
    for name in ("read", "text", "open", "fingerprint", "write", "edit"):
        with pytest.raises(PathRefused, match="not a regular file"):
            everything(files, "odd")[name]()
    assert files.stat("odd").kind == "other"
    assert files.grep("x").hits == []


def test_a_name_that_is_not_unicode_is_shown_but_cannot_be_asked_for(files, home):
    (home / os.fsdecode(b"bad\xff.txt")).write_bytes(b"x")
    entry = files.list()[0]
    assert (entry.name, entry.kind) == ("bad\ufffd.txt", "other")
    assert files.grep("x").hits == []


def exchange(one: Path, two: Path) -> None:
    """Let two names change places in one instant (renameat2 with RENAME_EXCHANGE)."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(-100, os.fsencode(one), -100, os.fsencode(two), 2) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "renameat2"), reason="needs Linux' renameat2 to swap in an instant")
@pytest.mark.parametrize("what", ["folder", "file"])
def test_a_link_swapped_in_between_check_and_use_never_leads_out(files, home, outside, what):
    """One thread swaps the real thing and a link that leads out, the other reads and writes through it."""
    (outside / "f").write_bytes(SECRET)
    files.write("d/f", b"inside")
    place = home / "d" if what == "folder" else home / "d" / "f"
    target = outside if what == "folder" else outside / "f"
    spare = home / "spare"
    spare.symlink_to(target)
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            exchange(place, spare)
            if not place.is_symlink() and not spare.is_symlink():  # a write replaced the link
                spare.unlink()
                spare.symlink_to(target)

    swapper = threading.Thread(target=swap)
    swapper.start()
    read = written = 0
    try:
        for number in range(1000):
            with suppress(LaybyError):
                assert files.read_bytes("d/f") != SECRET
                read += 1
            with suppress(LaybyError):
                files.write("d/f", b"try %d" % number)
                written += 1
            with suppress(LaybyError):
                assert files.grep("outside", "d").hits == []
                assert "secret.txt" not in [entry.name for entry in files.list("d")]
    finally:
        stop.set()
        swapper.join(10)
    assert min(read, written) > 10, (read, written)
    assert names(outside) == ["f", "secret.txt"]
    assert (outside / "f").read_bytes() == SECRET


def test_a_path_nested_out_of_reason_is_refused(files):
    with pytest.raises(PathRefused, match="64"):
        files.write("a/" * 64 + "x", b"x")
    files.write("a/" * 63 + "x", b"x")
