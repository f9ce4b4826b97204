"""The composition of Layby: settings, routes, processes and the one command. Nothing outside imports this package.

May not live here: what a session, a person or a file is. Importing the package must stay cheap: the launcher does it
before Django is there, and `celery -A config` finds its application in `config.celery`.
"""
