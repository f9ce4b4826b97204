"""Finding files and lines: globs, grep, and patterns that hang other engines."""

import time

import pytest

from workspaces import searching
from workspaces.errors import Invalid
from workspaces.files import WorkspaceFiles
from workspaces.paths import NoSuchFile
from workspaces.patterns import BadPattern

TREE = ["a.py", "b.txt", ".hidden", "src/a.py", "src/b.js", "src/deep/er/c.py", "src/[x].py", "tests/test_a.py"]


@pytest.fixture
def files(data_folder) -> WorkspaceFiles:
    files = WorkspaceFiles("acme")
    for path in TREE:
        files.write(path, f"first line\nthis is {path}\r\nlast".encode())
    return files


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.py", ["a.py"]),
        ("**/*.py", ["a.py", "src/[x].py", "src/a.py", "src/deep/er/c.py", "tests/test_a.py"]),
        ("src/*", ["src/[x].py", "src/a.py", "src/b.js"]),
        ("src/**", ["src/[x].py", "src/a.py", "src/b.js", "src/deep/er/c.py"]),
        ("src/**/c.py", ["src/deep/er/c.py"]),
        ("src/**/a.py", ["src/a.py"]),
        ("*/*.??", ["src/[x].py", "src/a.py", "src/b.js", "tests/test_a.py"]),
        ("src/[ab].*", ["src/a.py", "src/b.js"]),
        ("src/[!a].*", ["src/b.js"]),
        ("src/[a-b].py", ["src/a.py"]),
        ("src/[[]x].py", ["src/[x].py"]),
        ("*", [".hidden", "a.py", "b.txt"]),
        ("./a.py", ["a.py"]),
        ("**", sorted(TREE)),
        ("A.PY", []),
        ("nowhere/*.py", []),
        ("a.py/*", []),
        ("a+b", []),
        ("src/[x", []),
    ],
)
def test_a_glob_finds_files_by_their_whole_path(files, pattern, found):
    assert [entry.path for entry in files.glob(pattern)] == found


@pytest.mark.parametrize("pattern", ["", "/etc/*", "../*", "a/../../*", "x" * 1001, "a\x00", "[z-a]", "\ud800"])
def test_a_bad_glob_is_refused(files, pattern):
    with pytest.raises(Invalid):
        files.glob(pattern)


def test_grep_gives_lines_with_their_numbers(files):
    found = files.grep(r"is src/.\.\w+$")
    assert [(hit.path, hit.line, hit.text) for hit in found.hits] == [
        ("src/a.py", 2, "this is src/a.py"),
        ("src/b.js", 2, "this is src/b.js"),
    ]
    assert (found.more, found.skipped) == (False, 0)


@pytest.mark.parametrize(
    ("path", "glob", "count"),
    [("", None, 8), ("src", None, 4), ("src/a.py", None, 1), ("", "*.py", 5), ("", "src/*.py", 2), ("src", "*.js", 1)],
)
def test_grep_can_be_narrowed(files, path, glob, count):
    assert len(files.grep("^first", path, glob).hits) == count


def test_grep_says_what_is_missing(files):
    with pytest.raises(NoSuchFile):
        files.grep("x", "nowhere")


def test_grep_stops_at_250_hits_and_says_so(files):
    files.write("many.txt", b"hit\n" * 251)
    found = files.grep("hit", "many.txt")
    assert (len(found.hits), found.more) == (250, True)
    files.write("many.txt", b"hit\n" * 250)
    assert not files.grep("hit", "many.txt").more


def test_grep_leaves_out_what_is_not_text(files):
    files.write("bin", b"first\x00")
    files.write("latin", b"first \xe9")
    found = files.grep("^first")
    assert (len(found.hits), found.skipped) == (8, 2)


def test_grep_cuts_a_long_line(files):
    files.write("long.txt", b"needle" + b"x" * 100_000)
    (hit,) = files.grep("needle").hits
    assert len(hit.text) == searching.MAX_LINE + 1


@pytest.mark.parametrize("pattern", ["", "x" * 201, "(", "a{1001}", "((a{1000}){1000})", r"(?=a)", r"(a)\1", "\x00"])
def test_a_bad_pattern_is_refused_with_a_reason(files, pattern):
    with pytest.raises(Invalid) as refused:
        files.grep(pattern)
    assert refused.value.message


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|aa)+$", "(a|a?)+$", "(.*a){20}$", r"^(\w+\s?)*$", "(x+x+)+y", "([a-zA-Z]+)*$", "(.*)*b"]
)
def test_a_pattern_that_hangs_other_engines_is_answered_at_once(files, pattern):
    files.write("evil.txt", b"a" * 5000 + b"!")
    start = time.perf_counter()
    files.grep(pattern, "evil.txt")
    assert time.perf_counter() - start < 0.2


def test_a_glob_that_hangs_other_engines_is_answered_at_once(files):
    files.write("a" * 200, b"")
    start = time.perf_counter()
    files.glob("*a" * 60 + "b")
    files.glob("**/" * 200 + "x")
    assert time.perf_counter() - start < 0.5


def test_a_tree_without_end_is_refused(files, monkeypatch):
    monkeypatch.setattr(searching, "MAX_WALKED", 9)
    with pytest.raises(Invalid, match="narrower path"):
        files.glob("**")


def test_a_bad_pattern_is_its_own_kind_of_error(files):
    with pytest.raises(BadPattern):
        files.grep("(")
