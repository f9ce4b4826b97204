"""Starting a process that can't outlive us, and finding one that did.

Invariants: a child is forked by the main thread (the kernel's death signal fires when the *thread* that forked it
ends), is in a session of its own (Ctrl-C reaches only us, and we stop things in order), and gets its death signal
after its user was changed (changing the user clears it).
"""

import ctypes
import os
import pwd
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

PR_SET_PDEATHSIG = 1
LINUX = sys.platform.startswith("linux")
_libc = ctypes.CDLL(None) if LINUX else None


class LaunchError(Exception):
    """Something that a person has to put right; its text is the sentence shown, without a trace."""


def service_account() -> pwd.struct_passwd | None:
    """Who runs the services: None (we ourselves), or an existing unprivileged user when we are root.

    Postgres refuses to run as root. Nothing is created for it. Raises LaunchError if there is no such user.
    """
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise LaunchError("Started as root, but there is neither a user 'postgres' nor 'nobody' to run the database as.")


def _in_child(death_signal: int, parent: int) -> Callable[[], None]:
    def prepare() -> None:
        if _libc is not None:
            _libc.prctl(PR_SET_PDEATHSIG, death_signal)
            if os.getppid() != parent:  # we died between the fork and the line above
                os._exit(1)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)

    return prepare


def spawn(
    argv: Sequence[str | Path],
    *,
    death_signal: int,
    cwd: Path,
    env: Mapping[str, str],
    account: pwd.struct_passwd | None = None,
    output: IO[bytes] | int | None = None,
) -> subprocess.Popen[bytes]:
    """Start *argv* so that it gets *death_signal* when we die however that happens (on Linux).

    *output* takes both its standard output and error; None leaves them ours. Raises OSError if it can't be run.
    """
    return subprocess.Popen(
        [str(part) for part in argv],
        cwd=cwd,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT if output is not None else None,
        start_new_session=True,
        preexec_fn=_in_child(death_signal, os.getpid()),  # one thread here, see above
        user=account.pw_uid if account else None,
        group=account.pw_gid if account else None,
        extra_groups=() if account else None,
    )


def processes_in(folder: Path) -> list[int]:
    """The living processes whose working folder is *folder*: both services run in their own (Linux; else none).

    This is how a database left over from a killed start is told from another program that has its old process id.
    """
    try:
        wanted = folder.stat()
    except OSError:
        return []
    found = []
    for entry in Path("/proc").glob("[0-9]*") if LINUX else ():
        try:
            seen = (entry / "cwd").stat()
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if (seen.st_dev, seen.st_ino) == (wanted.st_dev, wanted.st_ino) and state != "Z":
            found.append(int(entry.name))
    return found


def clean_environment() -> dict[str, str]:
    """What the services get of our environment: nothing that could change how they behave."""
    kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH", "TMPDIR") if name in os.environ}
    return {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC", **kept}
