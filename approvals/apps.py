"""The app's name and label, fixed from the first migration on."""

from django.apps import AppConfig


class ApprovalsConfig(AppConfig):
    """Approvals, listed so that its label is taken."""

    name = "approvals"
