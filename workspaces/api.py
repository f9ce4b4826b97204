"""The API of people, workspaces and files (SPEC 14): access → operation → JSON, for bearer tokens.

May not: hold a rule; everything is the same operations as the console's. Every call is about the token's own
workspace, so that no other one can be named, except POST /workspaces, which makes one.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from ninja import Query, Router, Schema, Status
from pydantic import Field

from workspaces import filing, operations, queries
from workspaces.access import access_token_workspace
from workspaces.actors import Actor
from workspaces.bodies import Sent, StrictModel
from workspaces.downloads import download
from workspaces.entries import Entry
from workspaces.files import WorkspaceFiles
from workspaces.models import ApiToken, Membership, Workspace
from workspaces.pages import DEFAULT_LIMIT, page
from workspaces.paths import NoSuchFile
from workspaces.roles import Need

router = Router()
CHUNK = 64 * 1024


class WorkspaceIn(StrictModel):
    slug: str
    name: str


class MemberIn(StrictModel):
    username: str
    role: str
    password: str | None = Field(None, description="Makes a new login with this first password.")


class RoleIn(StrictModel):
    role: str


class TokenIn(StrictModel):
    name: str = ""
    role: str


class PageIn(Schema):
    cursor: str | None = None
    limit: int = DEFAULT_LIMIT


def actor_and_workspace(request: HttpRequest, need: Need = Need.READ) -> tuple[Actor, Workspace]:
    """Whose token this call has, and the workspace it is of, if its role is enough. Raises Forbidden, NotFound."""
    actor: Actor = request.auth  # type: ignore[attr-defined]  # put there by the API's bearer check
    return actor, access_token_workspace(actor, need)


def moment(at: datetime | None) -> str | None:
    """*at* as ISO 8601 in UTC, with a Z."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z") if at else None


# --- workspaces -------------------------------------------------------------------------------------------------------


@router.get("/workspaces", tags=["workspaces"])
def list_workspaces(request: HttpRequest) -> dict[str, Any]:
    """The token's own workspace, as a page of one."""
    _, workspace = actor_and_workspace(request)
    return {"items": [_workspace(workspace)], "next_cursor": None}


@router.post("/workspaces", response={201: dict[str, Any]}, tags=["workspaces"])
def create_workspace(request: HttpRequest, body: Sent[WorkspaceIn]) -> Status[dict[str, Any]]:
    """Make a workspace; needs a superuser's token. Get tokens of the new one with `manage.py issue_token`."""
    actor, _ = actor_and_workspace(request, Need.ADMINISTER)
    return Status(201, _workspace(operations.create_workspace(actor, body.slug, body.name)))


# --- members ----------------------------------------------------------------------------------------------------------


@router.get("/members", tags=["members"])
def list_members(request: HttpRequest, paging: Query[PageIn]) -> dict[str, Any]:
    """Who is in the workspace, by username."""
    _, workspace = actor_and_workspace(request)
    found = queries.members(workspace)
    return page(found, lambda member: member.user.username, _member, paging.cursor, paging.limit)


@router.post("/members", response={201: dict[str, Any]}, tags=["members"])
def add_member(request: HttpRequest, body: Sent[MemberIn]) -> Status[dict[str, Any]]:
    """Make somebody a member: with `password` a new login is made, without it the person has one already."""
    actor, workspace = actor_and_workspace(request, Need.ADMINISTER)
    if body.password is None:
        member = operations.add_member(actor, workspace, body.username, body.role)
    else:
        member = operations.create_member(actor, workspace, body.username, body.password, body.role)
    return Status(201, _member(member))


@router.put("/members/{username}", tags=["members"])
def set_role(request: HttpRequest, username: str, body: Sent[RoleIn]) -> dict[str, Any]:
    """Change a member's role. The last admin keeps it (409)."""
    actor, workspace = actor_and_workspace(request, Need.ADMINISTER)
    return _member(operations.set_role(actor, workspace, username, body.role))


@router.delete("/members/{username}", response={204: None}, tags=["members"])
def remove_member(request: HttpRequest, username: str) -> Status[None]:
    """End a membership. The last admin stays (409)."""
    actor, workspace = actor_and_workspace(request, Need.ADMINISTER)
    operations.remove_member(actor, workspace, username)
    return Status(204, None)


# --- tokens -----------------------------------------------------------------------------------------------------------


@router.get("/tokens", tags=["tokens"])
def list_tokens(request: HttpRequest, paging: Query[PageIn]) -> dict[str, Any]:
    """The tokens of the workspace, oldest first, without their texts."""
    _, workspace = actor_and_workspace(request, Need.ADMINISTER)
    return page(queries.tokens(workspace), lambda token: str(token.pk), _token, paging.cursor, paging.limit)


@router.post("/tokens", response={201: dict[str, Any]}, tags=["tokens"])
def issue_token(request: HttpRequest, body: Sent[TokenIn]) -> Status[dict[str, Any]]:
    """Issue a token of the workspace. `token` is its text, which is in this answer only."""
    actor, workspace = actor_and_workspace(request, Need.ADMINISTER)
    token, raw = operations.issue_token(actor, workspace, body.role, body.name)
    return Status(201, {**_token(token), "token": raw})


@router.delete("/tokens/{token_id}", response={204: None}, tags=["tokens"])
def revoke_token(request: HttpRequest, token_id: str) -> Status[None]:
    """End a token at once."""
    actor, workspace = actor_and_workspace(request, Need.ADMINISTER)
    operations.revoke_token(actor, workspace, token_id)
    return Status(204, None)


# --- files ------------------------------------------------------------------------------------------------------------


@router.get("/files", tags=["files"])
def list_files(request: HttpRequest, paging: Query[PageIn], path: str = "") -> dict[str, Any]:
    """What lies in the folder `path` (the workspace's own without it), by name."""
    _, workspace = actor_and_workspace(request)
    found = WorkspaceFiles(workspace.slug).list(path)
    return page(found, lambda entry: entry.name, _file, paging.cursor, paging.limit)


@router.get("/files/{path:path}", tags=["files"])
def read_file(request: HttpRequest, path: str) -> HttpResponseBase:
    """The file's bytes."""
    _, workspace = actor_and_workspace(request)
    files = WorkspaceFiles(workspace.slug)
    return download(files.open_for_read(path), path.rstrip("/").rsplit("/", 1)[-1])


@router.put(
    "/files/{path:path}",
    response={200: dict[str, Any], 201: dict[str, Any]},
    tags=["files"],
    openapi_extra={"requestBody": {"content": {"application/octet-stream": {"schema": {"format": "binary"}}}}},
)
def write_file(request: HttpRequest, path: str) -> Status[dict[str, Any]]:
    """Make or replace a file with the body as it is (≤ 25 MiB), and the folders it needs."""
    actor, workspace = actor_and_workspace(request, Need.OPERATE)
    there = _is_there(WorkspaceFiles(workspace.slug), path)
    entry = filing.save(actor, workspace, path, _body(request))
    return Status(200 if there else 201, _file(entry))


@router.delete("/files/{path:path}", response={204: None}, tags=["files"])
def delete_file(request: HttpRequest, path: str) -> HttpResponse:
    """Delete a file or an empty folder."""
    actor, workspace = actor_and_workspace(request, Need.OPERATE)
    filing.delete(actor, workspace, path)
    return HttpResponse(status=204)


def _body(request: HttpRequest) -> Iterator[bytes]:
    # Read in pieces, never `request.body`: the bound is counted as they come.
    while piece := request.read(CHUNK):
        yield piece


def _is_there(files: WorkspaceFiles, path: str) -> bool:
    try:
        files.stat(path)
    except NoSuchFile:
        return False
    return True


# --- how rows look as JSON --------------------------------------------------------------------------------------------


def _workspace(workspace: Workspace) -> dict[str, Any]:
    return {
        "id": str(workspace.pk),
        "slug": workspace.slug,
        "name": workspace.name,
        "created_at": moment(workspace.created_at),
    }


def _member(member: Membership) -> dict[str, Any]:
    return {
        "username": member.user.username,
        "role": member.role,
        "active": member.user.is_active,
        "created_at": moment(member.created_at),
    }


def _token(token: ApiToken) -> dict[str, Any]:
    return {
        "id": str(token.pk),
        "name": token.name,
        "role": token.role,
        "prefix": token.prefix,
        "created_at": moment(token.created_at),
        "created_by": token.created_by,
        "last_used_at": moment(token.last_used_at),
        "revoked_at": moment(token.revoked_at),
    }


def _file(entry: Entry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "path": entry.path,
        "kind": entry.kind,
        "size": entry.size,
        "modified_at": moment(entry.mtime),
    }
