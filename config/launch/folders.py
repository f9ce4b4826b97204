"""The folders that the services need: private ones for data and sockets, and a readable copy of their programs.

Invariants: no folder that we didn't make changes its mode or owner; a folder in a place that others may write to is
used only if it is really ours.
"""

import fcntl
import hashlib
import os
import pwd
import shutil
import stat
import subprocess
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from config.launch import places
from config.launch.children import LaunchError, clean_environment

# A cleaner of temporary files leaves a folder alone while somebody holds its lock: ours are kept as long as we live.
_held: list[int] = []


def hold(folder: Path) -> None:
    """Keep cleaners of temporary files away from *folder* until this process ends."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    fcntl.flock(handle, fcntl.LOCK_SH)
    _held.append(handle)


def private(folder: Path, account: pwd.struct_passwd | None) -> Path:
    """*folder*, made with mode 0700 for *account* (us if None), or found to be so.

    Raises LaunchError if something else is there: it may have been put there for us to fall into.
    """
    owner = account.pw_uid if account else os.geteuid()
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        seen = folder.lstat()
        if not stat.S_ISDIR(seen.st_mode) or seen.st_uid not in (owner, os.geteuid()) or seen.st_mode & 0o077:
            raise LaunchError(
                f"{folder} is there already but is not a private folder of ours. Look at it and remove it."
            ) from None
    if account:
        os.chown(folder, account.pw_uid, account.pw_gid, follow_symlinks=False)
    return folder


def sockets(data: Path, account: pwd.struct_passwd | None) -> Path:
    """The folder for the sockets of the services of *data*, made private and written down in the data folder."""
    folder = private(places.socket_folder(data), account)
    if len(os.fsencode(folder / ".s.PGSQL.5432.lock")) > 107:
        raise LaunchError(f"{folder} is too long a path for sockets. Set XDG_RUNTIME_DIR to a shorter folder.")
    hold(folder)
    note = data / places.SOCKET_FOLDER_FILE
    note.write_text(f"{folder}\n{data}\n")
    return folder


def remove_sockets(data: Path) -> None:
    """Remove the folder of the sockets of *data*, whose services have ended."""
    shutil.rmtree(places.socket_folder(data), ignore_errors=True)
    (data / places.SOCKET_FOLDER_FILE).unlink(missing_ok=True)


def _runs(program: Path, account: pwd.struct_passwd | None) -> bool:
    try:
        done = subprocess.run(
            [str(program), "--version"],
            cwd="/",
            env=clean_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=30,
            check=False,
            user=account.pw_uid if account else None,
            group=account.pw_gid if account else None,
            extra_groups=() if account else None,
        )
    except OSError:
        return False
    return bool(done.returncode == 0)


def _copy_places(mark: str) -> Iterator[Path]:
    for base in ("/tmp", "/var/tmp", "/var/lib"):  # noqa: S108 - owner and mode are checked; one may be mounted noexec
        yield Path(base) / f"layby-{os.geteuid()}-{mark}"


def installed(distribution: str) -> Path:
    """The folder that the packages of *distribution* are installed in. Raises LaunchError if it isn't installed."""
    try:
        return Path(str(metadata.distribution(distribution).locate_file("")))
    except metadata.PackageNotFoundError:
        raise LaunchError(
            f"{distribution} is not installed (it exists for Linux with glibc and macOS). Set DATABASE_URL and"
            " REDIS_URL to a Postgres and a Valkey or Redis of your own."
        ) from None


def usable(
    root: Path, parts: list[str], program: str, account: pwd.struct_passwd | None, *, drop: tuple[str, ...] = ()
) -> Path:
    """A folder that *account* may read, with *parts* of *root* in their places relative to each other.

    That is *root* itself where *program* in it runs for *account*; else a copy (root's packages may lie in a folder
    that only root may enter). *drop* names subfolders not worth copying. Raises LaunchError if it runs nowhere.
    """
    if _runs(root / program, account):
        return root
    seen = (root / program).stat()
    key = f"{root}\0{program}\0{seen.st_size}\0{seen.st_mtime_ns}"
    mark = hashlib.sha256(key.encode()).hexdigest()[:12]
    for folder in _copy_places(mark):
        try:
            if not folder.exists():
                aside = folder.with_name(f"{folder.name}.{os.getpid()}")
                aside.mkdir(mode=0o755)
                for part in parts:
                    shutil.copytree(root / part, aside / part, symlinks=True, ignore=shutil.ignore_patterns(*drop))
                aside.chmod(0o755)
                aside.rename(folder)
            found = folder.lstat()
        except OSError:
            continue
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o022:
            hold(folder)
            if _runs(folder / program, account):
                return folder
    raise LaunchError(
        f"{Path(program).name} can't be run here. Set DATABASE_URL and REDIS_URL to a Postgres and a Valkey or Redis"
        " of your own (embedded ones need Linux with glibc, or macOS)."
    )
