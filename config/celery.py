"""The Celery application: hints that there may be work, and the platform's own clockwork jobs. No task lives here."""

import os
import warnings
from typing import Any

from celery import Celery, signals
from django.conf import settings
from django.utils.module_loading import import_string

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("layby")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


# `up` started as root says so itself, and nothing unpickles here.
warnings.filterwarnings("ignore", message="You're running the worker with superuser privileges")


@signals.setup_logging.connect  # type: ignore[untyped-decorator]
def _keep_our_logging(**_: Any) -> None:
    """A receiver is enough: Celery then leaves the log to Django's settings."""


@signals.celeryd_init.connect  # type: ignore[untyped-decorator]
def _be_a_worker(**_: Any) -> None:
    waiting = {"socket_timeout": settings.REDIS_WAITING_ANSWER_SECONDS}
    app.conf.broker_transport_options = {**app.conf.broker_transport_options, **waiting}
    # Only here: the steps import models, and Django is set up by now.
    for path in settings.WORKER_STEPS:
        app.steps["worker"].add(import_string(path))
