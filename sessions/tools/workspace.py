"""The toolset `workspace`: an agent's hands on the files of its workspace. Workspace sessions only.

Lives here: the six tools of SPEC 4 and the shape of their results. May not: touch the disk; `workspaces.files` does,
and keeps every path inside the workspace.
Invariants: every refusal is a `ToolError` in the plain words of the file layer; results are JSON, and those that were
cut say so (`more`).
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from annotated_types import Ge, MaxLen, MinLen

from sessions.contracts import ToolContext, ToolError, Toolset
from sessions.tools.base import tool
from workspaces.errors import LaybyError
from workspaces.files import WorkspaceFiles
from workspaces.paths import MAX_PATH_BYTES
from workspaces.patterns import MAX_GLOB, MAX_REGEX

MAX_WRITE = 1024 * 1024
MAX_LISTED = 1000
WORKSPACE_ONLY = frozenset({"workspace"})

FilePath = Annotated[str, MinLen(1), MaxLen(MAX_PATH_BYTES)]
FolderPath = Annotated[str, MaxLen(MAX_PATH_BYTES)]
Glob = Annotated[str, MinLen(1), MaxLen(MAX_GLOB)]
Regex = Annotated[str, MinLen(1), MaxLen(MAX_REGEX)]


@contextmanager
def _files(context: ToolContext) -> Iterator[WorkspaceFiles]:
    try:
        yield WorkspaceFiles(context.workspace_slug)
    except LaybyError as error:
        raise ToolError(error.message) from None


@tool("workspace", effect="read", on_crash="rerun", concurrency_safe=True, surfaces=WORKSPACE_ONLY)
def list_files(context: ToolContext, path: FolderPath = "") -> dict[str, Any]:
    """List what lies in a folder of the workspace, not below it. The result is {"path", "entries": [{"name", "kind":
    "file", "folder" or "other", "size" in bytes for files}], "more": how many were left out after the first 1000}.

    Args:
        path: The folder, relative to the workspace; "" is the workspace itself.
    """
    with _files(context) as files:
        entries = files.list(path)
    shown = [
        {"name": entry.name, "kind": entry.kind, **({"size": entry.size} if entry.kind == "file" else {})}
        for entry in entries[:MAX_LISTED]
    ]
    return {"path": path, "entries": shown, "more": len(entries) - len(shown)}


@tool("workspace", effect="read", on_crash="rerun", concurrency_safe=True, surfaces=WORKSPACE_ONLY)
def read_file(
    context: ToolContext, path: FilePath, offset: Annotated[int, Ge(0)] = 0, limit: Annotated[int, Ge(1)] = 2000
) -> dict[str, Any]:
    """Read lines of a text file. The result is {"path", "content", "offset", "lines": how many are in content,
    "total_lines", "more": whether the file goes on}, and "next_offset" to read on with if it does.

    Args:
        path: The file, relative to the workspace.
        offset: How many lines to skip from the beginning.
        limit: How many lines to read at most.
    """
    with _files(context) as files:
        text = files.read_text(path)
    # Only \n ends a line here, as in grep; the text stays exact, so that edit_file finds what was read.
    lines = list(io.StringIO(text, newline="\n"))
    chosen = lines[offset : offset + limit]
    end = offset + len(chosen)
    result = {
        "path": path,
        "content": "".join(chosen),
        "offset": offset,
        "lines": len(chosen),
        "total_lines": len(lines),
        "more": end < len(lines),
    }
    return {**result, "next_offset": end} if result["more"] else result


@tool("workspace", effect="write", on_crash="rerun", surfaces=WORKSPACE_ONLY)
def write_file(context: ToolContext, path: FilePath, content: Annotated[str, MaxLen(MAX_WRITE)]) -> dict[str, Any]:
    """Write a text file, making the folders it needs and replacing what was there. The result is {"path", "size" in
    bytes}.

    Args:
        path: The file, relative to the workspace.
        content: The whole new text, at most 1 MiB in UTF-8.
    """
    data = content.encode()
    if len(data) > MAX_WRITE:
        raise ToolError(f"The content is {len(data)} bytes; at most {MAX_WRITE} (1 MiB) can be written.")
    with _files(context) as files:
        entry = files.write(path, data, max_bytes=MAX_WRITE)
    return {"path": entry.path, "size": entry.size}


@tool("workspace", effect="write", on_crash="unknown", surfaces=WORKSPACE_ONLY)
def edit_file(
    context: ToolContext, path: FilePath, old: Annotated[str, MinLen(1)], new: str, replace_all: bool = False
) -> dict[str, Any]:
    """Replace a piece of text in a text file. The piece must be there exactly, and only once unless replace_all is
    true. The result is {"path", "replaced": how many times}.

    Args:
        path: The file, relative to the workspace.
        old: The text to replace, exactly as it stands in the file, with its line ends.
        new: The text to put in its place; empty to take it out.
        replace_all: Whether to replace every place where it stands.
    """
    with _files(context) as files:
        return {"path": path, "replaced": files.edit(path, old, new, replace_all)}


@tool("workspace", effect="read", on_crash="rerun", concurrency_safe=True, surfaces=WORKSPACE_ONLY)
def glob(context: ToolContext, pattern: Glob) -> dict[str, Any]:
    """Find files by the pattern of their paths. The result is {"files": [path, …] in order of path, "more": how many
    were left out after the first 1000}.

    Args:
        pattern: Relative to the workspace: * and ? stay within a folder, ** goes through folders, [abc] is one of
            these; such as reports/**/*.md.
    """
    with _files(context) as files:
        found = [entry.path for entry in files.glob(pattern)]
    return {"files": found[:MAX_LISTED], "more": max(0, len(found) - MAX_LISTED)}


@tool("workspace", effect="read", on_crash="rerun", concurrency_safe=True, surfaces=WORKSPACE_ONLY)
def grep(
    context: ToolContext, pattern: Regex, path: FolderPath | None = None, glob: Glob | None = None
) -> dict[str, Any]:
    """Find the lines of text files that match a regular expression (RE2: no look-around, no back-references). The
    result is {"hits": [{"path", "line" from 1, "text"}], at most 250, "more": whether it stopped before the end,
    "skipped": how many files are not text or too large}.

    Args:
        pattern: The regular expression, at most 200 characters; (?i) in front ignores case.
        path: Only this folder or file. Leave it out for the whole workspace.
        glob: Only files of this pattern: of the name, or of the whole path if it has a slash. Leave it out for all.
    """
    with _files(context) as files:
        found = files.grep(pattern, path or "", glob)
    hits = [{"path": hit.path, "line": hit.line, "text": hit.text} for hit in found.hits]
    return {"hits": hits, "more": found.more, "skipped": found.skipped}


toolset = Toolset(
    "workspace",
    "Read, search and write the files of the workspace.",
    (list_files, read_file, write_file, edit_file, glob, grep),
)
