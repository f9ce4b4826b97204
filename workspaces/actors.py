"""Who acts: a user, an API token, or the system.

Lives here: the value every operation takes first and every record keeps. May not: decide what an actor may do (that
is `access`); the flags here are what was true when the actor was made, `access` asks the database again.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from workspaces.errors import Invalid
from workspaces.values import require_clean

if TYPE_CHECKING:
    from workspaces.models import ApiToken, User

MAX_BY = 256


@dataclass(frozen=True, slots=True)
class Actor:
    """One who acts. `by` is who decided, in the caller's own words (≤ 256 characters), shown beside the name."""

    kind: Literal["user", "token", "system"]
    id: str | None
    name: str
    by: str = ""
    superuser: bool = False
    token_workspace: UUID | None = None
    token_role: str | None = None

    @classmethod
    def for_user(cls, user: "User") -> "Actor":
        return cls("user", str(user.pk), user.get_username(), superuser=user.is_superuser)

    @classmethod
    def for_token(cls, token: "ApiToken") -> "Actor":
        return cls(
            "token",
            str(token.pk),
            token.name,
            superuser=token.creates_workspaces,
            token_workspace=token.workspace_id,
            token_role=token.role,
        )

    def with_by(self, text: str) -> "Actor":
        """This actor with `by` set. Raises Invalid if it is longer than 256 characters or can't be stored."""
        if len(text) > MAX_BY:
            raise Invalid(f"by is longer than {MAX_BY} characters.")
        require_clean(text, "by")
        return replace(self, by=text.strip())

    @property
    def row_id(self) -> UUID:
        """The id of the actor's row; for the system one that no row has."""
        return UUID(self.id) if self.id else UUID(int=0)

    def as_json(self) -> dict[str, Any]:
        """How records keep an actor: kind, id, name, and `by` where it was given."""
        shown: dict[str, Any] = {"kind": self.kind, "id": self.id, "name": self.name}
        if self.by:
            shown["by"] = self.by
        return shown

    def __str__(self) -> str:
        return f"{self.name} ({self.by})" if self.by else self.name


SYSTEM = Actor("system", None, "Layby")
