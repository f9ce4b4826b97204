"""Makes the composition an installed app: Django finds its commands, every process its Celery application."""

from django.apps import AppConfig


class ComposedConfig(AppConfig):
    """The app of the commands `up` and `migrate`; it has no models."""

    name = "config"
    verbose_name = "Layby"

    def ready(self) -> None:
        from config import celery  # noqa: F401 - shared tasks bind to it
