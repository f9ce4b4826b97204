"""The app's registration with Django; nothing else."""

from django.apps import AppConfig


class WorkspacesConfig(AppConfig):
    name = "workspaces"
    label = "workspaces"
    verbose_name = "People and workspaces"
