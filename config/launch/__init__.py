"""The embedded services and the child processes: where they lie, how they start, how they stop.

Nothing here imports Django while the module is loaded: manage.py uses it before the settings are read. Commands import
no launcher except `up`, which is one.
"""

import time

STARTED = time.monotonic()
"""When this process began, near enough: manage.py imports this first."""
