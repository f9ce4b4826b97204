"""Races use the fixtures of tests/sessions."""

from tests.sessions.conftest import make_agent, start, test_tools, worker

__all__ = ["make_agent", "start", "test_tools", "worker"]
