"""The files of a workspace: what the console, the API and the agents' tools use, and nothing else does.

Paths are workspace-relative text with `/`. Everything here is synchronous, knows no actor, uses no database, and
raises `LaybyError`s with plain messages (paths.py has those of files). How it stays inside the workspace is
`handles`' business.

Invariants: a file appears whole or not at all; no call holds more than one file (≤ 25 MiB) in memory; links are shown
but never followed; half-written files are never shown.
"""

import errno
import hashlib
import os
import re
import stat as modes
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

from django.conf import settings

from workspaces import handles, searching
from workspaces.entries import Entry, entries_in, entry_of
from workspaces.errors import AlreadyExists, Invalid
from workspaces.models import SLUG_PATTERN
from workspaces.paths import (
    ChangedMeanwhile,
    FolderNotEmpty,
    NoSuchFile,
    NotText,
    Parts,
    PathRefused,
    is_text,
    parse,
    parse_new,
    shown,
)

MAX_FILE_BYTES = 25 * 1024 * 1024
SLUG = re.compile(SLUG_PATTERN)
MISSING = ""  # as `expected` in write: the file must not be there yet


Entries = list[Entry]  # inside the class, `list` is the method


class WorkspaceFiles:
    """The files of the workspace *slug*. Holds nothing open between calls."""

    def __init__(self, slug: str) -> None:
        if SLUG.fullmatch(slug) is None:  # it becomes a folder's name
            raise Invalid(f"{shown(slug)} is not a workspace's slug.")
        self.slug = slug

    @property
    def base(self) -> Path:
        """Where the folders of all workspaces lie: DATA/workspaces."""
        return Path(settings.DATA) / "workspaces"

    @contextmanager
    def _folder(self, parts: Parts, make: bool = False) -> Iterator[int]:
        with handles.root(self.base, self.slug) as root, handles.folder(root, parts, make) as handle:
            yield handle

    # --- reading -----------------------------------------------------------------------------------------------------

    def list(self, path: str = "") -> list[Entry]:
        """What lies in the folder *path*, by name. Raises NoSuchFile, PathRefused (a file, a link, a bad path)."""
        parts = parse(path)
        with self._folder(parts) as handle:
            return entries_in(handle, parts)

    def stat(self, path: str) -> Entry:
        """What lies at *path* (a link itself, not its target). Raises NoSuchFile, PathRefused."""
        parts = parse(path)
        if not parts:
            with self._folder(()) as handle:
                return entry_of("", (), os.fstat(handle))
        with self._folder(parts[:-1]) as handle:
            found = handles.look(handle, parts)
        if found is None:
            raise NoSuchFile(f"There is no file {shown(parts)}.")
        return entry_of(parts[-1], parts[:-1], found)

    def open_for_read(self, path: str) -> BufferedReader:
        """The regular file *path*, open for reading; the caller closes it. Raises NoSuchFile, PathRefused."""
        parts = parse(path)
        if not parts:
            raise PathRefused("This needs the path of a file, not the workspace's own folder.")
        with self._folder(parts[:-1]) as handle:
            return os.fdopen(handles.open_file(handle, parts), "rb")

    def read_bytes(self, path: str, max_bytes: int = MAX_FILE_BYTES) -> bytes:
        """The whole of the file *path*. Raises TooLarge above *max_bytes*, NoSuchFile, PathRefused."""
        with self.open_for_read(path) as file:
            return _whole(file, parse(path), max_bytes)

    def read_text(self, path: str, max_bytes: int = MAX_FILE_BYTES) -> str:
        """The whole of the text file *path* (UTF-8, line ends as they are). Raises NotText, TooLarge, NoSuchFile."""
        return as_text(self.read_bytes(path, max_bytes), path)

    def fingerprint(self, path: str) -> str:
        """The hex SHA-256 of the file *path*: what `write` takes as `expected`. Raises NoSuchFile, PathRefused."""
        with self.open_for_read(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    # --- writing -----------------------------------------------------------------------------------------------------

    def write(
        self,
        path: str,
        data: bytes | Iterable[bytes],
        expected: str | None = None,
        max_bytes: int = MAX_FILE_BYTES,
    ) -> Entry:
        """Make or replace the file *path*, whole, with the folders it needs.

        *expected* guards against a lost update: the `fingerprint` it must have now, or MISSING. Raises TooLarge (as
        soon as more than *max_bytes* came), PathRefused, ChangedMeanwhile, AlreadyExists, NoSpace.
        """
        parts = parse_new(path)
        chunks = [data] if isinstance(data, bytes) else data
        with self._folder(parts[:-1], make=True) as handle:
            mode = _replaceable(handles.look(handle, parts), parts)
            # The lock is taken only now: a slow sender must not hold the folder.
            with handles.new_file(handle, parts, chunks, max_bytes, mode) as name, handles.locked(handle):
                if expected is not None:
                    _expect(handle, parts, expected)
                return _place(handle, name, parts)

    def edit(self, path: str, old: str, new: str, replace_all: bool = False) -> int:
        """Replace *old* by *new* in the text file *path*; returns how often. Nobody's write in between is lost.

        *old* must be there, and once unless *replace_all*. Raises Invalid, NotText, NoSuchFile, TooLarge.
        """
        parts = parse_new(path)
        if not old:
            raise Invalid("The text to replace is empty.")
        with self._folder(parts[:-1]) as handle, handles.locked(handle):
            with os.fdopen(handles.open_file(handle, parts), "rb") as file:
                mode = os.fstat(file.fileno()).st_mode
                text = as_text(_whole(file, parts, MAX_FILE_BYTES), path)
            count = text.count(old)
            if count == 0:
                raise Invalid(f"The text to replace is not in {shown(parts)}.")
            if count > 1 and not replace_all:
                raise Invalid(
                    f"The text to replace is {count} times in {shown(parts)}. Give more of it, or replace all."
                )
            try:
                data = text.replace(old, new).encode("utf-8")
            except UnicodeEncodeError:
                raise Invalid("The new text is not valid Unicode text.") from None
            with handles.new_file(handle, parts, [data], MAX_FILE_BYTES, mode) as name:
                _place(handle, name, parts)
            return count

    def make_folder(self, path: str) -> None:
        """Make the folder *path* and those above it; one that is there is fine. Raises PathRefused."""
        with self._folder(parse_new(path), make=True):
            pass

    def delete(self, path: str) -> None:
        """Remove the file, link or empty folder *path*. Raises NoSuchFile, FolderNotEmpty, PathRefused."""
        parts = parse(path)
        if not parts:
            raise PathRefused("The workspace's own folder can't be deleted.")
        with self._folder(parts[:-1]) as handle, handles.locked(handle):
            try:
                handles.remove(handle, parts)
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
                raise FolderNotEmpty(f"The folder {shown(parts)} is not empty.") from None

    # --- searching ---------------------------------------------------------------------------------------------------

    def walk(self, path: str = "") -> Iterator[Entry]:
        """Everything below the folder *path*: see `searching.walk`."""
        return searching.walk(self, path)

    def glob(self, pattern: str) -> "Entries":
        """The files whose whole path matches *pattern*, by path: see `searching.glob`."""
        return searching.glob(self, pattern)

    def grep(
        self, pattern: str, path: str = "", glob: str | None = None, max_hits: int = searching.MAX_HITS
    ) -> searching.Hits:
        """The lines that match *pattern* below *path*: see `searching.grep`."""
        return searching.grep(self, pattern, path, glob, max_hits)


def as_text(data: bytes, path: str) -> str:
    """*data* as UTF-8 text. Raises NotText where it is not (NUL counts as binary too)."""
    if not is_text(data):
        raise NotText(f"{shown(path)} is not a text file.")
    return data.decode("utf-8")


def _whole(file: BufferedReader, parts: Parts, most: int) -> bytes:
    data = file.read(most + 1)  # one more than allowed shows that there is more, whatever its size said before
    if len(data) > most:
        raise handles.too_large(parts, most)
    return data


def _replaceable(found: os.stat_result | None, parts: Parts) -> int | None:
    # Renaming over a link would be safe, but whoever put it there did not mean it to vanish.
    if found is None:
        return None
    if not modes.S_ISREG(found.st_mode):
        raise handles.refusal_of(found, parts)
    return found.st_mode


def _expect(handle: int, parts: Parts, expected: str) -> None:
    if handles.look(handle, parts) is None:
        if expected != MISSING:
            raise ChangedMeanwhile(f"{shown(parts)} was deleted since you read it.")
        return
    if expected == MISSING:
        raise AlreadyExists(f"There is already something at {shown(parts)}.")
    with os.fdopen(handles.open_file(handle, parts), "rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != expected:
            raise ChangedMeanwhile(f"{shown(parts)} was changed by somebody else since you read it.")


def _place(handle: int, name: str, parts: Parts) -> Entry:
    found = os.stat(name, dir_fd=handle, follow_symlinks=False)
    handles.put_in_place(handle, name, parts)
    return entry_of(parts[-1], parts[:-1], found)
