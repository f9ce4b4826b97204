"""What people and callers do to a workspace's files: the right is checked, the deed is done, the audit says so.

The agents' tools do not come through here (their calls are in the session's journal); they use `files` directly.
Invariant: the disk has no transactions, so the entry is written after the deed; a deed that failed leaves none.
"""

from collections.abc import Iterable

from django.db import transaction

from workspaces import access, audit
from workspaces.actors import Actor
from workspaces.entries import Entry
from workspaces.files import WorkspaceFiles
from workspaces.models import Workspace
from workspaces.roles import Need


def save(
    actor: Actor, workspace: Workspace, path: str, data: bytes | Iterable[bytes], expected: str | None = None
) -> Entry:
    """`WorkspaceFiles.write` by *actor*; raises what that raises, and Forbidden."""
    access.require(actor, workspace, Need.OPERATE)
    entry = WorkspaceFiles(workspace.slug).write(path, data, expected)
    with transaction.atomic():
        audit.record(actor, "file.written", workspace, entry.path, size=entry.size)
    return entry


def delete(actor: Actor, workspace: Workspace, path: str) -> None:
    """`WorkspaceFiles.delete` by *actor*; raises what that raises, and Forbidden."""
    access.require(actor, workspace, Need.OPERATE)
    WorkspaceFiles(workspace.slug).delete(path)
    with transaction.atomic():
        audit.record(actor, "file.deleted", workspace, path)
