"""Walks through the console with a real Chromium, against the real command with all its processes."""
