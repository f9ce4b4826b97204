"""The toolset `workspace`: the six file tools, their results, bounds and refusals (cases L03, L04 for grep)."""

import json
import os
import time
from pathlib import Path

import pytest

from sessions.contracts import ToolError
from sessions.tools.arguments import BadArguments, parse
from sessions.tools.workspace import MAX_WRITE, edit_file, glob, grep, list_files, read_file, toolset, write_file

from .fakes import FakeContext


@pytest.fixture
def folder(settings, tmp_path: Path) -> Path:
    settings.DATA = tmp_path / "data"
    inside = settings.DATA / "workspaces" / "acme"
    inside.mkdir(parents=True)
    (tmp_path / "outside.txt").write_text("secret")
    return inside


def run(tool, **arguments):
    """The call as dispatch makes it: from text, checked, then the body."""
    parsed = parse(tool, json.dumps(arguments))
    assert not isinstance(parsed, BadArguments), parsed.message
    result = tool.body(FakeContext(), parsed.value)
    assert json.loads(json.dumps(result)) == result
    return result


def refused(tool, **arguments):
    with pytest.raises(ToolError) as caught:
        run(tool, **arguments)
    assert str(caught.value).isprintable()
    return str(caught.value)


def test_what_each_tool_declares():
    declared = {tool.name: (tool.effect, tool.on_crash, tool.concurrency_safe) for tool in toolset.tools}
    assert declared == {
        "list_files": ("read", "rerun", True),
        "read_file": ("read", "rerun", True),
        "write_file": ("write", "rerun", False),
        "edit_file": ("write", "unknown", False),
        "glob": ("read", "rerun", True),
        "grep": ("read", "rerun", True),
    }
    assert all(tool.surfaces == {"workspace"} for tool in toolset.tools)
    assert not any(tool.asks_person or tool.requires for tool in toolset.tools)


# -- list_files --------------------------------------------------------------------------------------------------


def test_a_folder_is_listed_with_kinds_and_sizes(folder):
    (folder / "b").mkdir()
    (folder / "b" / "c.txt").write_text("x")
    (folder / "a.txt").write_text("four")
    (folder / "link").symlink_to("/etc")
    for path in ("", "."):
        assert run(list_files, path=path) == {
            "path": path,
            "entries": [
                {"name": "a.txt", "kind": "file", "size": 4},
                {"name": "b", "kind": "folder"},
                {"name": "link", "kind": "other"},
            ],
            "more": 0,
        }
    assert run(list_files)["path"] == ""
    assert [entry["name"] for entry in run(list_files, path="b")["entries"]] == ["c.txt"]


def test_a_large_folder_says_how_many_were_left_out(folder):
    for number in range(1003):
        (folder / f"{number:04}").touch()
    result = run(list_files, path="")
    assert len(result["entries"]) == 1000
    assert result["more"] == 3


# -- read_file ---------------------------------------------------------------------------------------------------


def test_a_file_is_read_by_lines_and_says_when_there_is_more(folder):
    (folder / "a.txt").write_text("".join(f"line {n}\n" for n in range(2500)))
    first = run(read_file, path="a.txt")
    assert first["content"].startswith("line 0\n")
    assert {key: first[key] for key in first if key != "content"} == {
        "path": "a.txt",
        "offset": 0,
        "lines": 2000,
        "total_lines": 2500,
        "more": True,
        "next_offset": 2000,
    }
    rest = run(read_file, path="a.txt", offset=first["next_offset"])
    assert (rest["lines"], rest["more"], "next_offset" in rest) == (500, False, False)
    assert (first["content"] + rest["content"]) == (folder / "a.txt").read_text()
    assert run(read_file, path="a.txt", offset=2, limit=1)["content"] == "line 2\n"
    beyond = run(read_file, path="a.txt", offset=9999)
    assert (beyond["content"], beyond["lines"], beyond["total_lines"], beyond["more"]) == ("", 0, 2500, False)


@pytest.mark.parametrize(
    ("data", "lines"), [("", 0), ("a", 1), ("a\n", 1), ("a\r\nb\rc\n", 2), ("a\u2028b\x0cc\n\n", 2), ("é😀", 1)]
)
def test_content_is_exact_and_only_newlines_end_lines(folder, data, lines):
    (folder / "a.txt").write_bytes(data.encode())
    result = run(read_file, path="a.txt")
    assert (result["content"], result["total_lines"], result["more"]) == (data, lines, False)


@pytest.mark.parametrize("data", [b"\x00", b"\xff\xfe", b"PNG\x89\x00", "é".encode("latin-1")])
def test_a_binary_file_is_an_error_result(folder, data):
    (folder / "a.bin").write_bytes(data)
    assert "not a text file" in refused(read_file, path="a.bin")
    assert "not a text file" in refused(edit_file, path="a.bin", old="a", new="b")
    assert run(grep, pattern=".")["skipped"] == 1


@pytest.mark.parametrize("given", [{"offset": -1}, {"offset": 1.5}, {"limit": 0}, {"limit": -5}, {"limit": "10"}])
def test_the_bounds_of_reading(given):
    assert isinstance(parse(read_file, json.dumps({"path": "a", **given})), BadArguments)


# -- write_file --------------------------------------------------------------------------------------------------


def test_a_file_is_written_with_its_folders_and_overwritten(folder):
    assert run(write_file, path="a/b/c.txt", content="é\n") == {"path": "a/b/c.txt", "size": 3}
    assert (folder / "a/b/c.txt").read_text() == "é\n"
    assert run(write_file, path="./a//b/c.txt", content="") == {"path": "a/b/c.txt", "size": 0}
    assert (folder / "a/b/c.txt").read_text() == ""


def test_the_same_write_again_changes_nothing(folder):
    once = run(write_file, path="a.txt", content="x")
    assert run(write_file, path="a.txt", content="x") == once


def test_content_is_bounded_in_bytes(folder):
    run(write_file, path="a.txt", content="x" * MAX_WRITE)
    assert "at most 1048576 (1 MiB)" in refused(write_file, path="b.txt", content="é" * (MAX_WRITE // 2 + 1))
    assert isinstance(parse(write_file, json.dumps({"path": "b", "content": "x" * (MAX_WRITE + 1)})), BadArguments)
    assert not (folder / "b.txt").exists()


# -- edit_file ---------------------------------------------------------------------------------------------------


def test_a_piece_of_text_is_replaced_once_or_everywhere(folder):
    (folder / "a.txt").write_text("one two two\r\n")
    assert run(edit_file, path="a.txt", old="one", new="1") == {"path": "a.txt", "replaced": 1}
    assert "2 times" in refused(edit_file, path="a.txt", old="two", new="2")
    assert "not in" in refused(edit_file, path="a.txt", old="three", new="3")
    assert (folder / "a.txt").read_bytes() == b"1 two two\r\n"
    assert run(edit_file, path="a.txt", old="two", new="", replace_all=True)["replaced"] == 2
    assert (folder / "a.txt").read_bytes() == b"1  \r\n"
    assert isinstance(parse(edit_file, '{"path":"a.txt","old":"","new":"x"}'), BadArguments)


# -- glob and grep -----------------------------------------------------------------------------------------------


@pytest.fixture
def tree(folder):
    for path, text in {"a.md": "one\nTwo\n", "docs/b.md": "two\n", "docs/deep/c.txt": "three two\r\n"}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())
    return folder


@pytest.mark.parametrize(
    ("pattern", "files"),
    [
        ("*.md", ["a.md"]),
        ("**/*.md", ["a.md", "docs/b.md"]),
        ("docs/**", ["docs/b.md", "docs/deep/c.txt"]),
        ("docs/?.md", ["docs/b.md"]),
        ("nothing", []),
        ("no/such/folder/*", []),
    ],
)
def test_files_are_found_by_their_paths(tree, pattern, files):
    assert run(glob, pattern=pattern) == {"files": files, "more": 0}


def test_lines_are_found_in_the_whole_workspace_or_a_part_of_it(tree):
    hits = [
        {"path": "docs/b.md", "line": 1, "text": "two"},
        {"path": "docs/deep/c.txt", "line": 1, "text": "three two"},
    ]
    assert run(grep, pattern="two") == {"hits": hits, "more": False, "skipped": 0}
    assert run(grep, pattern="(?i)TWO$", path="a.md")["hits"] == [{"path": "a.md", "line": 2, "text": "Two"}]
    assert run(grep, pattern="two", path="docs/deep")["hits"] == hits[1:]
    assert run(grep, pattern="two", glob="*.md")["hits"] == hits[:1]
    assert run(grep, pattern="two", path=None, glob=None)["hits"] == hits
    assert run(grep, pattern="nowhere")["hits"] == []


def test_at_most_250_hits_are_given(folder):
    (folder / "a.txt").write_text("x\n" * 251)
    result = run(grep, pattern="x")
    assert (len(result["hits"]), result["more"]) == (250, True)
    (folder / "a.txt").write_text("x\n" * 250)
    assert run(grep, pattern="x")["more"] is False


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "a*a*a*a*b"])
def test_no_pattern_hangs(folder, pattern):
    (folder / "a.txt").write_text(("a" * 5000 + "!\n") * 20)
    started = time.process_time()
    run(grep, pattern=pattern)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(("tool", "most"), [(grep, 200), (glob, 1000)])
def test_a_pattern_is_bounded_and_a_broken_one_is_an_error_result(folder, tool, most):
    assert isinstance(parse(tool, json.dumps({"pattern": ""})), BadArguments)
    assert isinstance(parse(tool, json.dumps({"pattern": "x" * (most + 1)})), BadArguments)
    run(tool, pattern="x" * most)
    if tool is grep:
        assert "pattern" in refused(grep, pattern="(").lower()
        assert "pattern" in refused(grep, pattern="(?=a)").lower()


# -- paths -------------------------------------------------------------------------------------------------------

CALLS = {
    "list_files": (list_files, {}),
    "read_file": (read_file, {}),
    "write_file": (write_file, {"content": "x"}),
    "edit_file": (edit_file, {"old": "s", "new": "t"}),
    "grep": (grep, {"pattern": "."}),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../outside.txt",
        "a/../../outside.txt",
        "a/..",
        "/",
        "//x",
        "\ud83d/../x",
        "x" * 300,
    ],
    ids=lambda path: ascii(path)[:20],
)
def test_no_path_leads_out_of_the_workspace(folder, name, path):
    tool, rest = CALLS[name]
    refused(tool, path=path, **rest)
    assert (folder.parent.parent.parent / "outside.txt").read_text() == "secret"
    assert sorted(p.name for p in folder.parent.iterdir()) == ["acme"]


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("path", ["file", "dangling", "folder/outside.txt", "fifo"])
def test_no_link_is_followed_and_nothing_but_files_is_opened(folder, name, path):
    outside = folder.parent.parent.parent
    (folder / "file").symlink_to(outside / "outside.txt")
    (folder / "dangling").symlink_to(outside / "new.txt")
    (folder / "folder").symlink_to(outside)
    os.mkfifo(folder / "fifo")
    tool, rest = CALLS[name]
    refused(tool, path=path, **rest)
    assert (outside / "outside.txt").read_text() == "secret"
    assert not (outside / "new.txt").exists()


@pytest.mark.parametrize("pattern", ["../*", "/etc/*", "**/../*"])
def test_no_glob_leads_out_of_the_workspace(folder, pattern):
    refused(glob, pattern=pattern)


def test_a_nul_in_a_path_is_shown_and_never_cuts_it(folder):
    (folder / "a").write_text("x")
    assert "a␀b" in refused(read_file, path="a\x00b")


def test_what_is_not_there_is_said(folder):
    for name in ("list_files", "read_file", "edit_file", "grep"):
        tool, rest = CALLS[name]
        assert "There is no" in refused(tool, path="no/such", **rest)


def test_a_folder_is_no_file_and_a_file_no_folder(folder):
    (folder / "b").mkdir()
    (folder / "a.txt").write_text("x")
    for path, name in [("b", "read_file"), ("b", "write_file"), ("b", "edit_file"), ("a.txt", "list_files")]:
        tool, rest = CALLS[name]
        refused(tool, path=path, **rest)
    assert isinstance(parse(read_file, '{"path":""}'), BadArguments)
