"""A pytest plugin (`-p tests.services`): throw-away Postgres and Valkey when the environment names none.

It runs before Django reads its settings, once in the process that controls the run; workers of pytest-xdist inherit
what it puts into the environment. The services end with the run, however it ends.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from config.launch.children import LaunchError
from config.launch.services import Services

_started: list[tuple[Services, Path]] = []


def start() -> None:
    """Start what DATABASE_URL and REDIS_URL don't name, on a throw-away data folder, and name it there."""
    if os.environ.get("DATABASE_URL") and os.environ.get("REDIS_URL"):
        _own_data_folder()
        return
    folder = _own_data_folder()
    services = Services(folder, lambda text: None, throwaway=True)
    _started.append((services, folder))
    os.environ.update(services.start())


def _own_data_folder() -> Path:
    # Never the developer's own: its secret key, workspaces' files and logs are not for tests.
    if "LAYBY_TEST_DATA" not in os.environ:
        os.environ["LAYBY_TEST_DATA"] = tempfile.mkdtemp(prefix="layby-test-")
        os.environ["LAYBY_DATA"] = os.environ["LAYBY_TEST_DATA"]
        _folders.append(Path(os.environ["LAYBY_TEST_DATA"]))
    return Path(os.environ["LAYBY_TEST_DATA"])


_folders: list[Path] = []


def stop() -> None:
    """End what `start` started and remove its folder."""
    while _started:
        _started.pop()[0].stop()
    while _folders:
        shutil.rmtree(_folders.pop(), ignore_errors=True)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests() -> Generator[None, None, None]:
    try:
        start()
    except LaunchError as error:
        sys.exit(f"The tests' services can't be started: {error}")
    return (yield)


def pytest_unconfigure() -> None:
    stop()
