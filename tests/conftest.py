"""What every test gets: services (tests/services.py), Django, and the fixed cast (tests/cast.py).

Only plumbing lives here; people, workspaces and agents that tests share are the cast's.
"""

import uuid
from importlib.util import find_spec

import pytest

pytest_plugins = ["tests.cast"] if find_spec("tests.cast") else []


@pytest.fixture(autouse=True)
def _fresh_cache() -> None:
    """Login limits and live text live in the cache; no test sees another's, nor another run's on the same server."""
    from django.core.cache import cache

    cache.key_prefix = f"test-{uuid.uuid4()}"
