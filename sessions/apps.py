"""The sessions app. Its label is `agent_sessions`, since `sessions` is the label of Django's own browser sessions."""

from django.apps import AppConfig


class SessionsConfig(AppConfig):
    """Registers the runtime's models under the label `agent_sessions` from the first migration on."""

    name = "sessions"
    label = "agent_sessions"
    verbose_name = "Agent sessions"
    default_auto_field = "django.db.models.BigAutoField"
