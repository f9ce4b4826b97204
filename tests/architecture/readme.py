"""The tables of the README that are made from the code: `python -m tests.architecture.readme` writes them anew."""

import os
import re
from collections.abc import Iterator

from tests.architecture.code import ROOT, modules

README = ROOT / "README.md"
SETTING = re.compile(r"\b(?:LAYBY_[A-Z][A-Z_]*[A-Z]|YIELD_TIMEOUT_CAP_SECONDS|DATABASE_URL|REDIS_URL)\b")


def settings_read() -> set[str]:
    """Every name of the environment that the product's source mentions."""
    found = set()
    for path in [*modules(), ROOT / "manage.py"]:
        found |= set(SETTING.findall(path.read_text()))
    return found


def _errors() -> Iterator[tuple[str, int, str]]:
    from workspaces.errors import LaybyError

    todo = [LaybyError]
    while todo:
        kind = todo.pop()
        todo += kind.__subclasses__()
        # A subclass with the code of its parent only has other words.
        if kind is not LaybyError and "code" in vars(kind) and kind.__module__.split(".")[0] != "tests":
            yield kind.code, kind.status, (kind.__doc__ or "").strip().split("\n", 1)[0]


def tables() -> dict[str, str]:
    """Each generated table by its mark in the README."""
    import importlib

    # A class is found only where its module is imported: all that may define one are.
    for path in modules():
        if "errors import" in (text := path.read_text()) or path.stem == "errors" or "LaybyError" in text:
            importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    from sessions.engine.journal import KINDS

    codes = [f"| `{code}` | {status} | {text} |" for code, status, text in sorted(_errors())]
    kinds = [f"| `{kind}` | {text} |" for kind, text in KINDS.items()]
    return {
        "error codes": "\n".join(["| code | status | means |", "|---|---|---|", *codes]),
        "journal kinds": "\n".join(["| kind | means |", "|---|---|", *kinds]),
    }


def written(text: str) -> str:
    """*text* of the README with its generated tables as they should be."""
    for mark, table in tables().items():
        between = re.compile(rf"(<!-- {mark} -->\n).*?(\n<!-- end -->)", re.S)
        text = between.sub(lambda found, table=table: f"{found[1]}{table}{found[2]}", text)
    return text


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    README.write_text(written(README.read_text()))
