"""The shape of the code: who may import whom, how long a module may be, which names are no names."""

import ast
import statistics
import subprocess
import sys
from pathlib import Path

from tests.architecture.code import ROOT, at, modules, tree

CEILING = 400
MEDIAN = 150
NO_NAMES = {"core", "common", "utils", "util", "helpers", "misc"}


def lines(path: Path) -> int:
    return len(path.read_text().splitlines())


def test_imports_only_go_down() -> None:
    done = subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports")], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-6000:]


def test_no_module_is_over_the_ceiling() -> None:
    tests = sorted((ROOT / "tests").rglob("*.py"))
    long = {str(path.relative_to(ROOT)): lines(path) for path in [*modules(), *tests] if lines(path) > CEILING}
    assert not long


def test_half_of_the_modules_are_short() -> None:
    assert statistics.median(lines(path) for path in modules() if lines(path) > 1) < MEDIAN


def test_every_module_says_what_lives_there() -> None:
    silent = [at(path, 1) for path in modules() if path.read_text().strip() and not ast.get_docstring(tree(path))]
    assert not [place for place in silent if not place.endswith("__init__.py:1") or lines(ROOT / place[:-2]) > 1]


def test_no_module_is_called_after_nothing() -> None:
    assert not [str(path.relative_to(ROOT)) for path in modules() if {path.stem, *path.parts} & NO_NAMES]


def test_nobody_reads_djangos_own_sessions_as_ours() -> None:
    found = [
        at(path, node.lineno)
        for path in modules()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("django.contrib.sessions.models")
    ]
    assert not found
