"""What waits for a person in the token's workspace, and the workers, over the API."""

from typing import Any

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from sessions.api.callers import home
from sessions.api.outputs import InboxPage, WorkersOut
from sessions.api.problems import problems
from sessions.queries.inbox import inbox
from sessions.queries.workers import workers_document

router = Router(by_alias=True)


class InboxFilters(Schema):
    kind: list[str] = Field([], description="One or several kinds of waits, or attention.")
    cursor: str = ""
    limit: int = Field(50, ge=1, le=200)


@router.get("/inbox", summary="Show the inbox", response=InboxPage, tags=["inbox"], openapi_extra=problems(422))
def show_inbox(request: HttpRequest, filters: Query[InboxFilters]) -> dict[str, Any]:
    """Everything that waits for a person: the nearest deadline first, then the oldest."""
    _, workspace = home(request)
    kinds = [kind for kind in filters.kind if kind]
    return inbox(workspace, kinds=kinds, cursor=filters.cursor or None, limit=filters.limit).as_json()


@router.get("/workers", summary="List workers", response=WorkersOut, tags=["workers"], openapi_extra=problems())
def list_workers(request: HttpRequest) -> dict[str, Any]:
    """Who is alive, how busy, and how many of the workspace's sessions wait for a slot."""
    _, workspace = home(request)
    return workers_document(workspace)
