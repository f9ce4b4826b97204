"""The one command that checks everything: `python -m tests [words for pytest]`.

Runs every check even when one fails, sums up at the end, and exits with 1 if any failed. The services are started
once, for the checks and the tests together.
"""

import subprocess
import sys
import time
from pathlib import Path

from tests import services

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent


def checks(words: list[str]) -> list[tuple[str, list[str]]]:
    """Each check: what it is called and its command."""
    python = sys.executable
    return [
        ("format", [str(BIN / "ruff"), "format", "--check", "."]),
        ("lint", [str(BIN / "ruff"), "check", "."]),
        ("types", [python, "-m", "mypy", "--no-error-summary", *ROOMS]),
        ("import contracts", [str(BIN / "lint-imports")]),
        ("migrations", [python, "manage.py", "makemigrations", "--check", "--dry-run"]),
        ("tests", [python, "-m", "pytest", *words]),
    ]


ROOMS = ["manage.py", "config", "workspaces", "sessions", "approvals", "triggers"]


def main(words: list[str]) -> int:
    """Run all checks; returns the exit code."""
    results: list[tuple[str, int, float]] = []
    services.start()
    try:
        for name, command in checks(words):
            print(f"\n== {name}: {' '.join(command[1:] if command[0] == sys.executable else command)}", flush=True)
            begun = time.monotonic()
            code = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, check=False).returncode
            results.append((name, code, time.monotonic() - begun))
    finally:
        services.stop()
    print()
    for name, code, seconds in results:
        print(f"{'ok    ' if code == 0 else 'FAILED'} {name} ({seconds:.0f} s)")
    return 1 if any(code for _, code, _ in results) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
