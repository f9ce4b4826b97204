"""The real thing under test: `manage.py up` with all its processes, on a throw-away data folder and a free port.

For browser, API and fault tests. Everything here goes through what an operator has too: the command line, its output,
process ids, HTTP. Nothing reaches into the tested processes.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from config.launch.children import spawn

ROOT = Path(__file__).resolve().parent.parent
ADMIN_PASSWORD = "correct-horse-battery"
STARTED = re.compile(r"\] (\S+) (?:ready|started|started again) \(process (\d+)\)")
READY = re.compile(r"^layby is ready: (http://\S+/)$", re.MULTILINE)


class Stack:
    """One running Layby. `env` is added to its environment, `arguments` to the command's line."""

    def __init__(
        self,
        *,
        slots: int = 8,
        workers: int = 1,
        env: dict[str, str] | None = None,
        arguments: tuple[str, ...] = (),
        data: Path | None = None,
    ) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="layby-stack-"))
        self.data = data or self.folder / "data"
        self.log_file = self.folder / "up.log"
        self.slots, self.workers, self.arguments = slots, workers, arguments
        self.port = _free_port()
        self.env = self._environment(env or {})
        self.admin_password = ADMIN_PASSWORD
        self.process: subprocess.Popen[bytes] | None = None
        self._seen = 0  # how much of the log an earlier start has written

    def _environment(self, more: dict[str, str]) -> dict[str, str]:
        ours = ("LAYBY_", "DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE", "YIELD_TIMEOUT")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        return {
            **kept,
            "LAYBY_DATA": str(self.data),
            "LAYBY_ADMIN_PASSWORD": ADMIN_PASSWORD,
            "LAYBY_LOG_FORMAT": "json",
            **more,
        }

    @property
    def base_url(self) -> str:
        """Without a slash at the end."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        """All that all its processes have written, of every start."""
        return self.log_file.read_text(errors="replace") if self.log_file.exists() else ""

    @property
    def pid(self) -> int:
        """The process id of the command itself."""
        assert self.process is not None
        return self.process.pid

    def start(self, seconds: float = 90, *, wait: bool = True) -> "Stack":
        """Start it and wait for the ready line. Fails with the whole log if it doesn't come."""
        self._seen = len(self.log)
        argv = [sys.executable, "manage.py", "up", "--port", str(self.port), "--slots", str(self.slots)]
        argv += ["--workers", str(self.workers), *self.arguments]
        with self.log_file.open("ab") as output:
            self.process = spawn(argv, death_signal=signal.SIGTERM, cwd=ROOT, env=self.env, output=output)
        if wait:
            self.until_ready(seconds)
        return self

    def until_ready(self, seconds: float = 90) -> None:
        """Wait for the ready line of the latest start."""
        self.until(lambda: READY.search(self.log, self._seen), seconds, "no ready line")

    def ensure(self) -> "Stack":
        """Start it unless it runs."""
        return self if self.process is not None and self.process.poll() is None else self.start()

    def until(self, condition: Any, seconds: float, why: str) -> Any:
        """Wait until *condition* is true and return its value; fails with *why* and the log."""
        ends = time.monotonic() + seconds
        while not (value := condition()):
            ended = self.process is None or self.process.poll() is not None
            assert not (ended and why == "no ready line"), f"`up` ended: {self.log[-8000:]}"
            assert time.monotonic() < ends, f"{why} within {seconds} s\n{self.log[-8000:]}"
            time.sleep(0.05)
        return value

    def pid_of(self, name: str) -> int:
        """The process id of web, beat, worker-1, postgres or valkey (the latest one started)."""
        found = [int(pid) for part, pid in STARTED.findall(self.log[self._seen :]) if part == name]
        assert found, f"nothing called {name} was started\n{self.log[-8000:]}"
        return found[-1]

    def kill(self, name: str, number: int = signal.SIGKILL) -> int:
        """Send a signal to one part by its own process id; returns that id. `up` is the command itself."""
        pid = self.pid if name == "up" else self.pid_of(name)
        os.kill(pid, number)
        if name == "up" and number == signal.SIGKILL and self.process:
            self.process.wait(10)
        return pid

    def until_restarted(self, name: str, old: int, seconds: float = 40) -> int:
        """Wait until *name* has another process than *old*; returns its id."""
        self.until(lambda: self.pid_of(name) != old, seconds, f"{name} was not started again")
        return self.pid_of(name)

    def stop(self, seconds: float = 75) -> int:
        """Ask it to stop as Ctrl-C does and wait; returns its exit code."""
        if self.process is None:
            return 0
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        self.process = None
        return code

    def remove(self) -> None:
        """Stop it and remove its folder."""
        try:
            self.stop()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def manage(self, *arguments: str, seconds: float = 60, check: bool = True) -> str:
        """The standard output of a management command on the same data."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=seconds,
        )
        assert not check or done.returncode == 0, done.stderr
        return done.stdout.strip() if check else done.stdout + done.stderr

    def token(self, role: str = "admin", workspace: str = "demo") -> str:
        """A new API token."""
        return self.manage("issue_token", "--workspace", workspace, "--role", role)

    def call(
        self, method: str, path: str, body: Any = None, token: str = "", headers: dict[str, str] | None = None
    ) -> tuple[int, Any]:
        """One HTTP request: its status and its JSON (or text)."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base_url + path, data=data, method=method, headers=headers or {})
        if body is not None:
            request.add_header("Content-Type", "application/json")
        if token:
            request.add_header("Authorization", f"Bearer {token}")
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                status, raw, kind = answer.status, answer.read(), answer.headers.get_content_type()
        except urllib.error.HTTPError as error:
            status, raw, kind = error.code, error.read(), error.headers.get_content_type()
        return status, json.loads(raw) if raw and kind.endswith("json") else raw.decode(errors="replace")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
