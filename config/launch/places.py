"""Where the embedded services keep their data, sockets and logs.

Pure functions of the data folder, so that the settings, a command and `up` agree without talking to each other.
Invariant: a socket's path stays under 107 bytes (the kernel's limit), so sockets never lie in the data folder itself.
"""

import hashlib
import os
from pathlib import Path

DATABASE_NAME = "layby"
DATABASE_USER = "layby"
SOCKET_FOLDER_FILE = "sockets"


def socket_folder(data: Path) -> Path:
    """The short folder of the sockets of the services of this data folder.

    A folder written down by the services' starter wins, because XDG_RUNTIME_DIR may differ between a login shell and a
    service manager; not in a copy of a data folder, whose note names another one's services.
    """
    try:
        written, _, owner = (data / SOCKET_FOLDER_FILE).read_text().partition("\n")
    except OSError:
        return computed_socket_folder(data)
    ours = owner.strip() == str(data) and Path(written).is_dir()
    return Path(written) if ours else computed_socket_folder(data)


def computed_socket_folder(data: Path) -> Path:
    """The folder that a starter of services makes: `$XDG_RUNTIME_DIR/layby-HASH` or `/tmp/layby-UID-HASH`.

    Root always uses /tmp: the unprivileged user that runs Postgres can't enter /run/user/0.
    """
    mark = hashlib.sha256(os.fsencode(data)).hexdigest()[:12]
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime and len(runtime) < 50 and os.geteuid() != 0 and Path(runtime).is_dir():
        return Path(runtime) / f"layby-{mark}"
    return Path("/tmp") / f"layby-{os.geteuid()}-{mark}"  # noqa: S108 - owner and mode are checked when it is made


def database_url(sockets: Path) -> str:
    """The libpq address of the embedded database whose sockets lie there."""
    return f"postgresql:///{DATABASE_NAME}?host={sockets}&user={DATABASE_USER}"


def redis_url(sockets: Path) -> str:
    """The address of the embedded Valkey whose socket lies there."""
    return f"unix://{sockets / 'valkey.sock'}?db=0"
