"""Folders and files opened so that nothing leads out of a workspace: the one place that touches its disk.

Every part of a path is opened relative to the handle of the folder above it, and a link is never followed
(O_NOFOLLOW), so `..`, absolute paths, links, and a link put in place between a check and its use have nothing to act
on: there is no check that a use could come after. Only regular files are opened (a FIFO would block, a device act),
and only those with one name: a hard link may be a file outside.

May not: know actors, pages or the database. Invariants: no function here passes the system a path with a `/` in it,
except the data folder's own; a file is replaced whole or not at all.
"""

import errno
import fcntl
import os
import secrets
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from workspaces.errors import LaybyError, TooLarge
from workspaces.paths import UNFINISHED, NoSpace, NoSuchFile, Parts, PathRefused, is_unfinished, shown

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
STALE_SECONDS = 86400.0


@contextmanager
def root(base: Path, slug: str) -> Iterator[int]:
    """A handle of the folder *slug* in *base*, both made if they are missing. The slug's form is the caller's duty."""
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    above = os.open(base, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        handle = _enter(above, slug, (slug,), make=True)
    finally:
        os.close(above)
    try:
        yield handle
    finally:
        os.close(handle)


@contextmanager
def folder(root_handle: int, parts: Parts, make: bool = False) -> Iterator[int]:
    """A handle of the folder *parts* below the root. With *make*, missing folders are made. Raises a file's errors."""
    handle = os.dup(root_handle)
    try:
        for number, name in enumerate(parts):
            inner = _enter(handle, name, parts[: number + 1], make)
            os.close(handle)
            handle = inner
        yield handle
    finally:
        os.close(handle)


def _enter(above: int, name: str, so_far: Parts, make: bool) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=above)
    except FileNotFoundError:
        if not make:
            raise NoSuchFile(f"There is no folder {shown(so_far)}.") from None
    except OSError as error:
        raise _plain(error, above, name, so_far) from None
    try:
        with suppress(FileExistsError):  # somebody made it a moment ago
            os.mkdir(name, 0o755, dir_fd=above)
        return os.open(name, _FOLDER, dir_fd=above)
    except OSError as error:
        raise _plain(error, above, name, so_far) from None


def look(handle: int, parts: Parts) -> os.stat_result | None:
    """What lies at the last of *parts* in the folder *handle*, a link itself and not its target; None is nothing."""
    try:
        return os.stat(parts[-1], dir_fd=handle, follow_symlinks=False)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _plain(error, handle, parts[-1], parts) from None


def open_file(handle: int, parts: Parts) -> int:
    """A descriptor for reading the regular file at the last of *parts* in the folder *handle*. The caller closes it."""
    name = parts[-1]
    # Looked at first only for the words, and so that no device is opened; the answer is judged by what was opened.
    if (before := look(handle, parts)) is not None and not stat.S_ISREG(before.st_mode):
        raise refusal_of(before, parts)
    try:
        descriptor = os.open(name, _READ, dir_fd=handle)
    except OSError as error:
        raise _plain(error, handle, name, parts) from None
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        os.close(descriptor)
        raise refusal_of(found, parts)
    os.set_blocking(descriptor, True)
    return descriptor


@contextmanager
def new_file(handle: int, parts: Parts, chunks: Iterable[bytes], most: int, mode: int | None) -> Iterator[str]:
    """Write *chunks* (at most *most* bytes) to a half-written file in the folder and give its name.

    The body of the `with` puts it in place by `put_in_place`; whatever happens, no half-written file stays.
    """
    name = secrets.token_hex(8).join(UNFINISHED)
    try:
        descriptor = os.open(name, _NEW, 0o644, dir_fd=handle)
    except OSError as error:
        raise _plain(error, handle, name, parts) from None
    try:
        try:
            _fill(descriptor, parts, chunks, most)
            if mode is not None:
                os.fchmod(descriptor, mode & 0o777)
        finally:
            os.close(descriptor)
        yield name
    except OSError as error:
        raise _plain(error, handle, name, parts) from None
    finally:
        with suppress(FileNotFoundError):  # in place already
            os.unlink(name, dir_fd=handle)


def _fill(descriptor: int, parts: Parts, chunks: Iterable[bytes], most: int) -> None:
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size > most:
            raise too_large(parts, most)
        rest = memoryview(chunk)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    os.fsync(descriptor)  # before the rename: after a power cut the name must not stand for an empty file


def put_in_place(handle: int, name: str, parts: Parts) -> None:
    """Let the half-written file *name* become the last of *parts*. A link there would be replaced, never followed."""
    os.rename(name, parts[-1], src_dir_fd=handle, dst_dir_fd=handle)
    os.fsync(handle)


@contextmanager
def locked(handle: int) -> Iterator[None]:
    """Hold the folder against others who write in it through here; held for a rename or one file's edit."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
    except OSError as error:
        # Some network mounts have no locks on folders; there the last writer wins, as everywhere on them.
        if error.errno not in (errno.EBADF, errno.ENOLCK, errno.ENOTSUP, errno.EINVAL):
            raise
        yield
        return
    try:
        yield
    finally:
        fcntl.flock(handle, fcntl.LOCK_UN)


def remove(handle: int, parts: Parts) -> None:
    """Remove the file, link or empty folder at the last of *parts*. Raises OSError ENOTEMPTY for a full folder."""
    found = look(handle, parts)
    if found is None:
        raise NoSuchFile(f"There is no file {shown(parts)}.")
    try:
        if stat.S_ISDIR(found.st_mode):
            with folder(handle, parts[-1:]) as inside:
                drop_stale(inside, 0.0)
            os.rmdir(parts[-1], dir_fd=handle)
        else:
            os.unlink(parts[-1], dir_fd=handle)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        raise _plain(error, handle, parts[-1], parts) from None


def drop_stale(handle: int, age: float = STALE_SECONDS) -> None:
    """Remove half-written files older than *age* seconds: what a killed process left."""
    for name in filter(is_unfinished, os.listdir(handle)):
        with suppress(OSError):
            if time.time() - os.stat(name, dir_fd=handle, follow_symlinks=False).st_mtime >= age:
                os.unlink(name, dir_fd=handle)


def too_large(parts: Parts, most: int) -> TooLarge:
    """The error of a file above *most* bytes."""
    return TooLarge(f"{shown(parts)} is larger than {most // 1024:,} KiB.", most_bytes=most)


def refusal_of(found: os.stat_result, parts: Parts) -> PathRefused:
    """Why what was *found* at *parts* is not read or written as a file."""
    if stat.S_ISLNK(found.st_mode):
        why = "is a link; links are not followed"
    elif stat.S_ISDIR(found.st_mode):
        why = "is a folder"
    elif not stat.S_ISREG(found.st_mode):
        why = "is not a regular file"
    else:
        why = "has a second name elsewhere (a hard link), so it may lie outside of the workspace"
    return PathRefused(f"{shown(parts)} {why}.")


def _plain(error: OSError, handle: int, name: str, parts: Parts) -> LaybyError | OSError:
    match error.errno:
        case errno.ENOENT:
            return NoSuchFile(f"There is no file {shown(parts)}.")
        case errno.ELOOP | errno.ENOTDIR | errno.EISDIR | errno.EEXIST | errno.ENXIO:
            with suppress(OSError):
                found = os.stat(name, dir_fd=handle, follow_symlinks=False)
                if stat.S_ISREG(found.st_mode):
                    return PathRefused(f"{shown(parts)} is a file, not a folder.")
                return refusal_of(found, parts)
            return PathRefused(f"{shown(parts)} changed while it was opened. Try again.")
        case errno.ENAMETOOLONG | errno.EINVAL | errno.EILSEQ:
            return PathRefused(f"The path {shown(parts)} can't be used on this disk.")
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return PathRefused(f"The server's own permissions don't allow that with {shown(parts)}.")
        case errno.ENOSPC | errno.EDQUOT:
            return NoSpace()
    return error
