"""The product's own settings with the benchmark's tool; logs only what is wrong."""

from config.settings import *  # noqa: F403
from config.settings import TOOLSETS

TOOLSETS = {**TOOLSETS, "bench": "config.bench.tools.toolset"}
