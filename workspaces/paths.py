"""Paths as people, models and callers write them, and the errors of files.

Lives here: turning a workspace-relative path into its parts, or refusing it. May not: touch the disk; a path that
parses is only well formed, `handles` is what keeps it inside. Invariant: no part is empty, `.`, `..`, longer than 255
bytes, or holds NUL, `/` or half of a surrogate pair.
"""

from typing import NoReturn

from workspaces.errors import Conflict, Invalid, LaybyError, NotFound
from workspaces.values import clean_text

MAX_NAME_BYTES = 255
MAX_PATH_BYTES = 4000
MAX_PARTS = 64  # deeper trees break the tools people use on them
UNFINISHED = (".layby-", ".part")  # how the names of half-written files begin and end

Parts = tuple[str, ...]


class PathRefused(Invalid):
    """This path can't be used."""

    code = "path_refused"


class NoSuchFile(NotFound):
    """There is no such file."""


class NotText(Invalid):
    """This file is not text."""

    code = "not_text"


class FolderNotEmpty(Conflict):
    """This folder is not empty."""

    code = "folder_not_empty"


class ChangedMeanwhile(Conflict):
    """This file was changed by somebody else since you read it."""

    code = "changed_meanwhile"


class NoSpace(LaybyError):
    """There is no space left where the workspaces' files are kept."""

    code = "no_space"
    status = 507


def parse(path: str) -> Parts:
    """The parts of *path*, relative to the workspace (`""` and `"."` are its folder itself). Raises PathRefused."""
    if "\x00" in path:
        _refuse(path, "holds a NUL character")
    try:
        size = len(path.encode("utf-8"))
    except UnicodeEncodeError:
        _refuse(path, "is not valid Unicode text")
    if path.startswith("/"):
        _refuse(path, "is absolute; paths are relative to the workspace")
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if len(parts) > MAX_PARTS:
        _refuse(path, f"is nested deeper than {MAX_PARTS} folders")
    for part in parts:
        if part == "..":
            _refuse(path, "leads upwards with `..`")
        if len(part.encode("utf-8")) > MAX_NAME_BYTES:
            _refuse(path, f"has a name longer than {MAX_NAME_BYTES} bytes")
        if is_unfinished(part):
            _refuse(path, "is a name Layby keeps for half-written files")
    if size > MAX_PATH_BYTES:
        _refuse(path, f"is longer than {MAX_PATH_BYTES} bytes")
    return parts


def parse_new(path: str) -> Parts:
    """`parse` for something that is to be made: not the folder itself, and no control characters in its names."""
    parts = parse(path)
    if not parts:
        raise PathRefused("This needs the path of a file, not the workspace's own folder.")
    if any(ord(c) < 32 or 127 <= ord(c) < 160 for c in path):
        _refuse(path, "holds a control character")
    return parts


def is_unfinished(name: str) -> bool:
    """Whether *name* is one of a half-written file, which no page and no tool shows."""
    return name.startswith(UNFINISHED[0]) and name.endswith(UNFINISHED[1])


def shown(path: str | Parts) -> str:
    """*path* for a message: at most 200 characters, with nothing in it that a page or a terminal would hide."""
    text = path if isinstance(path, str) else "/".join(path)
    text = clean_text(text[:200]) + ("…" if len(text) > 200 else "")
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text) or "the workspace's folder"


def _refuse(path: str, why: str) -> NoReturn:
    raise PathRefused(f"The path {shown(path)} {why}.")


def is_text(data: bytes) -> bool:
    """Whether *data* is UTF-8 text; with a NUL in it, it is binary."""
    if b"\x00" in data:
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
