"""What each role may do: the table of SPEC 12, and nothing else.

Invariant: this is the only place where a role is turned into a right. It knows no database and no request.
"""

from enum import StrEnum


class Role(StrEnum):
    """What a member or a token is in one workspace."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    APPROVER = "approver"
    ADMIN = "admin"


class Need(StrEnum):
    """What an act asks of its actor."""

    READ = "read"
    OPERATE = "operate"  # start, answer, deliver, cancel, wake, pause, steer, retry, fork, chat, upload, fire now
    DECIDE = "decide"  # decide approvals, settle gated unknown outcomes
    ADMINISTER = "administer"  # agents, graphs, providers, tool servers, policies, triggers, members, tokens


_ALLOWED: dict[Role, frozenset[Need]] = {
    Role.VIEWER: frozenset({Need.READ}),
    Role.OPERATOR: frozenset({Need.READ, Need.OPERATE}),
    Role.APPROVER: frozenset({Need.READ, Need.OPERATE, Need.DECIDE}),
    Role.ADMIN: frozenset(Need),
}

ROLE_CHOICES = [(role.value, role.value.title()) for role in Role]


def allows(role: Role, need: Need) -> bool:
    """Whether *role* is enough for *need*."""
    return need in _ALLOWED[role]
