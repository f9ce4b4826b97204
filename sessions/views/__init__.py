"""The console's doors of sessions, agents and providers: access, form, operation, render.

Invariants: no view reads a row but through `access` or `queries`; a GET changes nothing; a POST of the session page
names the wait it is meant for, so that a half-typed answer never goes to another question.
"""
