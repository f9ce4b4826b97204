"""The console's pages about people, workspaces and files: access, form, operation, render; nothing else.

May not: query or change rows themselves (queries, operations), or open files (files).
"""
