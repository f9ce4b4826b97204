"""`manage.py issue_token`: an API token for scripts. Prints the token and nothing else (SPEC 14)."""

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from workspaces import operations
from workspaces.access import access_workspace
from workspaces.actors import SYSTEM
from workspaces.errors import LaybyError, NotFound
from workspaces.roles import Role


class Command(BaseCommand):
    help = "Issue an API token of a workspace and print it, once. With the role admin it may also create workspaces."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--workspace", required=True, metavar="SLUG")
        parser.add_argument("--role", required=True, choices=[role.value for role in Role])
        parser.add_argument("--name", default="command line")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            workspace = access_workspace(SYSTEM, options["workspace"])
            # Whoever may run commands here may do everything, so an admin's token is a superuser's.
            _, raw = operations.issue_token(
                SYSTEM, workspace, options["role"], options["name"], creates_workspaces=options["role"] == Role.ADMIN
            )
        except NotFound:
            raise CommandError(f"There is no workspace {options['workspace']}.") from None
        except LaybyError as error:
            raise CommandError(error.message) from None
        self.stdout.write(raw)
