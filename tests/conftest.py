"""What every test gets: services (tests/services.py), Django, the real command on demand, and the fixed cast.

Only plumbing lives here; people, workspaces and agents that tests share are in tests/cast.py.
"""

import uuid
from collections.abc import Callable, Iterator
from importlib.util import find_spec

import pytest

from tests import clean
from tests.stack import Stack

clean.install()

# The cast is a plugin, so that its fixtures are everywhere without an import.
pytest_plugins = ["tests.cast"] if find_spec("tests.cast") else []


@pytest.fixture(autouse=True)
def _fresh_cache() -> None:
    """Login limits and live text live in the cache; no test sees another's, nor another run's on the same server."""
    from django.core.cache import cache

    cache.key_prefix = f"test-{uuid.uuid4()}"


@pytest.fixture(scope="session")
def stack() -> Iterator[Stack]:
    """The real `manage.py up`, one for the whole run: for tests that leave it working."""
    one = Stack()
    try:
        yield one.start()
    finally:
        one.remove()


@pytest.fixture
def make_stack() -> Iterator[Callable[..., Stack]]:
    """Makes stacks of a test's own (not started yet), for tests that break them; removes them afterwards."""
    made: list[Stack] = []

    def make(**options: object) -> Stack:
        made.append(Stack(**options))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for one in made:
        one.remove()
