"""From rows to what the templates show: pure functions, no request, no database.

Invariant: text that a model, a tool or a caller wrote leaves here either through `display` (hidden characters made
visible, then escaped by the template) or through `markdown` (cleaned). Nothing else is marked safe.
"""
