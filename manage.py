#!/usr/bin/env python
"""The command line of Layby. It lives here only to make the services ready before a command that needs them."""

import os
import sys


def main() -> None:
    """Run one management command, with the services it needs for as long as it runs."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from config.launch.command import run

    run(sys.argv)


if __name__ == "__main__":
    main()
