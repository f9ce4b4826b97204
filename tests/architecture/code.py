"""Reading the product's own source for the checks in this folder: which files there are, and what they say."""

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("config", "workspaces", "sessions", "approvals", "triggers")
# What a request, a message of a socket, a task or an operator at the command line comes in by.
DOORS = ("views", "consumers", "api", "tasks", "admin", "forms", "urls", "management", "doors", "tenancy")


def modules(*rooms: str, migrations: bool = False) -> list[Path]:
    """The product's Python files in *rooms* (all of them if none is named)."""
    found = [path for room in rooms or ROOMS for path in sorted((ROOT / room).rglob("*.py"))]
    return [path for path in found if migrations or "migrations" not in path.parts]


def doors() -> list[Path]:
    """The modules and packages that are doors, in every room but config."""
    found = []
    for path in modules(*ROOMS[1:]):
        first = path.relative_to(ROOT).parts[1]
        if first.removesuffix(".py") in DOORS:
            found.append(path)
    return found


@functools.cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text(), str(path))


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """The string constants of a file that are no docstrings, with their lines (parts of f-strings too)."""
    module = tree(path)
    documents = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                documents.add(id(first.value))
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents:
            yield node.lineno, node.value


def at(path: Path, line: int) -> str:
    """How a finding names its place."""
    return f"{path.relative_to(ROOT)}:{line}"
