"""Approvals: a feature on top of sessions. Empty for now.

May import sessions and workspaces; nobody imports it, config reaches it by dotted paths.
"""
