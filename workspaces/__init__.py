"""People, tenancy, files, audit and notifications, and the shared primitives every other room stands on.

Lives here: who may do what where, the folder of each workspace, what was done by whom.
May not: import sessions, approvals, triggers or config. Everything above knows this room; it knows nobody.
"""
