"""The API of agents and sessions (SPEC 14): access → operation → document. `router` is what config/api.py mounts.

Lives here: routes, the shapes of bodies and answers. May not: touch rows (queries read, operations write), hold a rule.
Invariants: only bearer tokens come in (a browser's cookie is nothing here, so no other site can act by it); a body is
parsed strictly and refused whole (422) before any statement, unknown fields too, because a misspelt option that is
silently dropped does something else than was asked; unknown query parameters are ignored; a foreign id, a missing one
and text that is no id are the same 404; every route's need is in `tests/api/test_who_may_call_what.py`.
"""

from ninja import Router

from sessions.api import acts, agents, conversations, inbox, providers, sessions, waits

router = Router()
for _part in (providers, agents, sessions, conversations, acts, waits, inbox):
    router.add_router("", _part.router)
