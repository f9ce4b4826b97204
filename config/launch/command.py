"""temporary"""

import os


def run(argv: list[str]) -> None:
    from django.core.management import execute_from_command_line
    execute_from_command_line(argv)
