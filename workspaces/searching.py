"""Finding files and lines in a workspace.

Lives here: walking, globbing and grepping over `WorkspaceFiles`, whose methods call these. May not: open anything by
itself. Invariants: links are not followed; patterns are matched in linear time; each has a bound on what it reads.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workspaces import handles, patterns
from workspaces.entries import Entry, entries_in
from workspaces.errors import Invalid, LaybyError
from workspaces.paths import NoSuchFile, is_text, parse

if TYPE_CHECKING:
    from workspaces.files import WorkspaceFiles

MAX_WALKED = 200_000
MAX_HITS = 250
MAX_GREP_BYTES = 64 * 1024 * 1024
MAX_LINE = 1000


@dataclass(frozen=True, slots=True)
class Hit:
    """One matching line: its number from 1, its text cut at 1,000 characters."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Hits:
    """What grep found. `more`: it stopped at a bound; `skipped`: files that are not text or too large to look into."""

    hits: list[Hit]
    more: bool
    skipped: int


def walk(files: "WorkspaceFiles", path: str = "") -> Iterator[Entry]:
    """Everything below the folder *path* (or the file *path* itself), each folder before what is in it.

    Stops with Invalid after 200,000 entries. What vanishes meanwhile is left out. Raises NoSuchFile, PathRefused.
    """
    start = parse(path)
    if start and (entry := files.stat(path)).kind == "file":
        yield entry
        return
    with handles.root(files.base, files.slug) as root:
        with handles.folder(root, start) as handle:
            found = entries_in(handle, start)
        pending, walked = found[::-1], len(found)
        while pending:
            yield (entry := pending.pop())
            if entry.kind == "folder":
                found = _entries_if_there(root, entry)
                walked += len(found)
                if walked > MAX_WALKED:
                    raise Invalid(f"More than {MAX_WALKED:,} files and folders are there. Give a narrower path.")
                pending += found[::-1]


def glob(files: "WorkspaceFiles", pattern: str) -> list[Entry]:
    """The files whose whole path matches *pattern* (`patterns.glob`), by path. Raises BadPattern, Invalid."""
    compiled = patterns.glob(pattern)
    try:
        found = [
            entry
            for entry in walk(files, patterns.literal_start(pattern))
            if entry.kind == "file" and compiled.fullmatch(entry.path)
        ]
    except NoSuchFile:
        return []
    return sorted(found, key=lambda entry: entry.path)


def grep(
    files: "WorkspaceFiles", pattern: str, path: str = "", glob: str | None = None, max_hits: int = MAX_HITS
) -> Hits:
    """The lines that match *pattern* (`patterns.regex`) in the text files below *path*, or in that file.

    *glob* narrows the files: without a `/` by their names, else by their whole paths. At most *max_hits* hits and
    64 MiB read. Raises BadPattern, NoSuchFile, PathRefused.
    """
    compiled = patterns.regex(pattern)
    wanted = _by_glob(glob)
    hits: list[Hit] = []
    skipped, left = 0, MAX_GREP_BYTES
    for entry in walk(files, path):
        if entry.kind != "file" or not wanted(entry):
            continue
        if entry.size > left:
            return Hits(hits, True, skipped)
        try:
            data = files.read_bytes(entry.path)
        except LaybyError:
            skipped += 1
            continue
        left -= len(data)
        if not is_text(data):
            skipped += 1
            continue
        for number, line in enumerate(data.split(b"\n"), 1):
            if compiled.search(line.removesuffix(b"\r")) is None:
                continue
            if len(hits) >= max_hits:
                return Hits(hits, True, skipped)
            hits.append(Hit(entry.path, number, _cut(line)))
    return Hits(hits, False, skipped)


def _entries_if_there(root: int, entry: Entry) -> list[Entry]:
    try:
        parts = parse(entry.path)
        with handles.folder(root, parts) as handle:
            return entries_in(handle, parts)
    except LaybyError:
        return []  # gone, or become something else, or too deep to be named


def _by_glob(glob: str | None) -> Callable[[Entry], bool]:
    if not glob:
        return lambda entry: True
    compiled = patterns.glob(glob)
    if "/" in glob:
        return lambda entry: compiled.fullmatch(entry.path) is not None
    return lambda entry: compiled.fullmatch(entry.name) is not None


def _cut(line: bytes) -> str:
    text = line.decode("utf-8").removesuffix("\r")
    return text if len(text) <= MAX_LINE else text[:MAX_LINE] + "…"
