"""What the product imports, it asks for: a bare installation has nothing of the tests' tools to lean on."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions

import pytest

from tests.architecture.code import ROOMS, ROOT, at, modules, tree

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def canonical(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", requirement)[0]).lower()  # type: ignore[index]


ASKED = {canonical(line) for line in PROJECT["dependencies"]}
OPTIONAL = {canonical(line) for extra in ("mcp", "notify") for line in PROJECT["optional-dependencies"][extra]}
KNOWN = packages_distributions()


def imported() -> dict[str, str]:
    """The foreign top-level packages that the product imports, each with one place."""
    found: dict[str, str] = {}
    for path in [*modules(migrations=True), ROOT / "manage.py"]:
        for node in ast.walk(tree(path)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            for name in {name.partition(".")[0] for name in names}:
                if name not in sys.stdlib_module_names and name not in ROOMS:
                    found.setdefault(name, at(path, getattr(node, "lineno", 1)))
    return found


@pytest.mark.parametrize(("package", "place"), sorted(imported().items()))
def test_a_package_that_is_imported_is_asked_for(package: str, place: str) -> None:
    distributions = {canonical(name) for name in KNOWN.get(package, [package])}
    assert distributions & (ASKED | OPTIONAL), f"{place} imports {package} of {distributions}"


def test_the_lock_has_an_exact_version_of_everything_asked_for() -> None:
    lines = [line for line in (ROOT / "requirements.lock").read_text().splitlines() if line and line[0] != "#"]
    assert all(re.fullmatch(r"[\w.-]+==[\w.+!-]+", line) for line in lines)
    locked = {canonical(line) for line in lines}
    wanted = ASKED | {canonical(line) for line in PROJECT["optional-dependencies"]["dev"]}
    assert wanted <= locked
