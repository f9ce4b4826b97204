"""Approvals: a feature on top of sessions. Empty for now; it may import sessions and workspaces and nobody imports it."""
