"""`manage.py bench`: the same work as the peers of this field, on throw-away services, with the raw floor beside it.

One session: a start with 20 KB of history, one model reply with one trivial tool call, a question, an answer, an end.
`measure` runs the load against one or more real worker processes; `floor` does the same writes with raw psycopg, one
transaction each, in the same run, so that the ratio can be compared between machines and days.
"""
