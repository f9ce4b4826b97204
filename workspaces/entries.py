"""What lies in a folder, as a value. May not: open anything; it is given a handle (handles.py) or a stat result."""

import os
import stat as modes
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from workspaces import handles
from workspaces.paths import Parts, is_unfinished
from workspaces.values import clean_text


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing in a folder. `size` in bytes; `kind` other is a link, a FIFO, a device or an unreadable name."""

    name: str
    path: str
    kind: Literal["file", "folder", "other"]
    size: int
    mtime: datetime


def entry_of(name: str, above: Parts, found: os.stat_result) -> Entry:
    clean = clean_text(name)
    kind: Literal["file", "folder", "other"] = "other"
    if clean == name:  # a name that is not UTF-8 can be shown, but nothing can ask for it
        kind = "folder" if modes.S_ISDIR(found.st_mode) else "file" if modes.S_ISREG(found.st_mode) else "other"
    at = datetime.fromtimestamp(found.st_mtime, UTC)
    return Entry(clean, "/".join((*above, clean)), kind, found.st_size, at)


def entries_in(handle: int, above: Parts) -> list[Entry]:
    entries: list[Entry] = []
    unfinished = False
    with os.scandir(handle) as found:
        for item in found:
            if is_unfinished(item.name):
                unfinished = True
                continue
            try:
                entries.append(entry_of(item.name, above, item.stat(follow_symlinks=False)))
            except FileNotFoundError:
                continue  # gone meanwhile
    if unfinished:
        handles.drop_stale(handle)
    return sorted(entries, key=lambda entry: entry.name)
