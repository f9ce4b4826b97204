"""Every dotted path in the settings leads to something."""

from collections.abc import Iterator

import pytest
from django.conf import settings
from django.utils.module_loading import import_string

import config.settings
from tests.architecture.code import ROOMS


def dotted(value: object) -> Iterator[str]:
    if isinstance(value, str):
        if value.startswith(tuple(f"{room}." for room in ROOMS)) and " " not in value:
            yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from dotted(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from dotted(inner)


# These name modules, or models by their label.
OTHER = {"ROOT_URLCONF", "AUTH_USER_MODEL", "INSTALLED_APPS", "ASGI_APPLICATION"}
NAMES = [name for name in vars(config.settings) if name.isupper() and name not in OTHER]
PATHS = sorted({(name, path) for name in NAMES for path in dotted(getattr(settings, name))})


@pytest.mark.parametrize(("name", "path"), PATHS)
def test_a_registered_path_imports(name: str, path: str) -> None:
    assert import_string(path) is not None


def test_the_registries_are_there() -> None:
    for name in ("DRIVERS", "GATES", "TOOLSETS", "WAKERS", "NOTIFIERS", "MODEL_PROVIDERS", "FIRST_RUN", "READY_CHECKS"):
        assert hasattr(settings, name)
