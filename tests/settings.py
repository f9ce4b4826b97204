"""The settings under test: the product's own, with the few things that a test run must not share or wait for."""

import os

from config.settings import *  # noqa: F403
from config.settings import CACHES, CHANNEL_LAYERS, DATABASES, STORAGES

# Several runs at once on one server: each names its own database, and the keys in Valkey follow it.
_name = os.environ.get("LAYBY_TEST_DB", "test_layby")
_keys = f"{_name}-{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"
DATABASES["default"]["TEST"]["NAME"] = _name
CACHES["default"]["KEY_PREFIX"] = _keys
CHANNEL_LAYERS["default"]["CONFIG"]["prefix"] = _keys  # type: ignore[index]

# Hints go nowhere: what a test proves must not need them. Tests of the road itself use a real worker (tests/stack.py).
CELERY_BROKER_URL = "memory://"

# No manifest to build first.
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
