"""The product's own settings with the witness's tools; the stack under test runs with these."""

from config.settings import *  # noqa: F403
from config.settings import TOOLSETS

TOOLSETS = {**TOOLSETS, "witness": "tests.faults.witness.toolset"}
