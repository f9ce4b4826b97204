"""What pages, the API and the socket read about sessions. A query changes nothing and does not ask who may see it.

Whoever calls has been let in by `sessions.access` or `workspaces.access`. Every function here takes a constant number
of statements, whatever the number of rows; a list is bounded and goes on by a cursor, and nothing counts a table.
Times in documents are aware datetimes in UTC (JSON shows them as ISO 8601), ids are text.
"""
