"""A workspace's files in the browser: looked at by members, changed by operators."""

import hashlib
from contextlib import suppress
from dataclasses import dataclass
from io import BufferedReader

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render

from workspaces import filing
from workspaces.actors import Actor
from workspaces.doors import console_view
from workspaces.downloads import download as as_download
from workspaces.entries import Entry
from workspaces.errors import Conflict, Invalid, TooLarge
from workspaces.files import MISSING, WorkspaceFiles, as_text
from workspaces.forms import NewFileForm, TextForm, UploadForm, attempt, refuse
from workspaces.models import Workspace
from workspaces.paths import ChangedMeanwhile, NoSuchFile, NotText, PathRefused, is_text, shown
from workspaces.roles import Need

HEAD_BYTES = 192 * 1024
TAIL_BYTES = 64 * 1024
GONE = "gone"  # in the place of a fingerprint: the file was deleted meanwhile
EDIT_BYTES = 512 * 1024  # the form that carries it back is at most 1 MiB


@dataclass(frozen=True, slots=True)
class Preview:
    """What a page shows of a file: all of it, or its beginning and its end with `left_out` bytes between."""

    text: bool
    head: str = ""
    tail: str = ""
    left_out: int = 0
    editable: bool = False


@console_view()
def browse(request: HttpRequest, workspace: Workspace, actor: Actor, path: str = "") -> HttpResponse:
    """A folder's list, or a file's page."""
    files = WorkspaceFiles(workspace.slug)
    entry = files.stat(path)
    if entry.kind == "folder":
        return _folder(request, workspace, entry.path)
    with files.open_for_read(path) as file:
        preview = _preview(file, entry.size)
    context = {"entry": entry, "preview": preview, "above": _above(entry.path), "section": "files"}
    return render(request, "workspaces/file.html", context)


@console_view()
def download(request: HttpRequest, workspace: Workspace, actor: Actor, path: str) -> HttpResponseBase:
    """The file itself, as an attachment."""
    files = WorkspaceFiles(workspace.slug)
    return as_download(files.open_for_read(path), path.rstrip("/").rsplit("/", 1)[-1])


@console_view(Need.OPERATE, only_post=True)
def upload(request: HttpRequest, workspace: Workspace, actor: Actor, path: str = "") -> HttpResponse:
    """Put files into the folder *path*: each is told by itself what became of it."""
    form = UploadForm(request.POST, request.FILES)
    if not form.is_valid():
        return _folder(request, workspace, path, form)
    expected = None if form.cleaned_data["replace"] else MISSING
    done = 0
    for one in form.cleaned_data["chosen"]:
        target = f"{path}/{one.name}" if path else str(one.name)
        try:
            filing.save(actor, workspace, target, one.chunks(), expected)
            done += 1
        except (Invalid, Conflict, TooLarge) as error:
            refuse(form, error)
    if done:
        messages.success(request, f"{done} file{'s' if done > 1 else ''} uploaded.")
    if form.errors:
        return _folder(request, workspace, path, form)
    return _to(workspace, path)


@console_view(Need.OPERATE)
def new(request: HttpRequest, workspace: Workspace, actor: Actor, path: str = "") -> HttpResponse:
    """Write a new text file in the folder *path*."""
    form = NewFileForm(request.POST or None)
    status = 200
    if request.method == "POST":
        made = attempt(form, lambda: _write_new(actor, workspace, path, form))
        if made is not None:
            return _to(workspace, made.path)
        status = 422
    context = {"form": form, "folder": path, "new": True, "above": _above(path, itself=True), "section": "files"}
    return render(request, "workspaces/file_edit.html", context, status=status)


@console_view(Need.OPERATE)
def edit(request: HttpRequest, workspace: Workspace, actor: Actor, path: str) -> HttpResponse:
    """Change a text file. Nobody's change since it was read is overwritten unasked, and no typed text is lost."""
    files = WorkspaceFiles(workspace.slug)
    conflict, status = "", 200
    if request.method == "POST":
        form = TextForm(request.POST)
        try:
            if form.is_valid():
                _rewrite(actor, workspace, path, form.cleaned_data, request.POST.get("overwrite", ""))
                messages.success(request, f"{shown(path)} is saved.")
                return _to(workspace, path)
            status = 422
        except ChangedMeanwhile as error:
            refuse(form, error)
            conflict, status = _as_it_is(files, path), error.status
        except (Invalid, Conflict, TooLarge) as error:
            refuse(form, error)
            status = error.status
    else:
        data = files.read_bytes(path, EDIT_BYTES)
        form = TextForm(initial={"content": as_text(data, path), "expected": hashlib.sha256(data).hexdigest()})
    context = {
        "form": form,
        "path": path,
        "name": path.rstrip("/").rsplit("/", 1)[-1],
        "conflict": conflict,
        "above": _above(path),
        "section": "files",
    }
    return render(request, "workspaces/file_edit.html", context, status=status)


@console_view(Need.OPERATE, only_post=True)
def delete(request: HttpRequest, workspace: Workspace, actor: Actor, path: str) -> HttpResponse:
    """Delete a file or an empty folder."""
    try:
        filing.delete(actor, workspace, path)
        messages.success(request, f"{shown(path)} is deleted.")
    except NoSuchFile:
        messages.info(request, f"{shown(path)} was deleted already.")
    except Conflict as error:
        messages.error(request, error.message)
        return _to(workspace, path)
    return _to(workspace, path.rstrip("/").rpartition("/")[0])


def _folder(request: HttpRequest, workspace: Workspace, path: str, form: forms.Form | None = None) -> HttpResponse:
    entries = WorkspaceFiles(workspace.slug).list(path)
    entries.sort(key=lambda entry: (entry.kind != "folder", entry.name.lower()))
    context = {
        "path": path,
        "entries": entries,
        "above": _above(path),
        "form": form or UploadForm(),
        "section": "files",
    }
    return render(request, "workspaces/files.html", context, status=422 if form else 200)


def _to(workspace: Workspace, path: str) -> HttpResponse:
    if path:
        return redirect("workspaces:file", workspace.slug, path)
    return redirect("workspaces:files", workspace.slug)


def _above(path: str, itself: bool = False) -> list[tuple[str, str]]:
    """The folders that lead to *path*, as (name, path), for the crumbs."""
    parts = [part for part in path.split("/") if part]
    parts = parts if itself else parts[:-1]
    return [(part, "/".join(parts[: number + 1])) for number, part in enumerate(parts)]


def _preview(file: BufferedReader, size: int) -> Preview:
    if size <= HEAD_BYTES + TAIL_BYTES:
        data = file.read(HEAD_BYTES + TAIL_BYTES + 1)
        if not is_text(data):
            return Preview(False)
        return Preview(True, head=data.decode("utf-8"), editable=True)
    head = file.read(HEAD_BYTES)
    file.seek(-TAIL_BYTES, 2)
    tail = file.read(TAIL_BYTES)
    # A character may be cut in two at either edge; anything else that isn't UTF-8 makes it binary.
    head_text, tail_text = head.decode("utf-8", "ignore"), tail.decode("utf-8", "ignore")
    lost = len(head) + len(tail) - len(head_text.encode()) - len(tail_text.encode())
    if lost > 6 or b"\x00" in head or b"\x00" in tail:
        return Preview(False)
    return Preview(
        True, head=head_text, tail=tail_text, left_out=size - HEAD_BYTES - TAIL_BYTES, editable=size <= EDIT_BYTES
    )


def _write_new(actor: Actor, workspace: Workspace, folder: str, form: forms.Form) -> Entry:
    name = form.cleaned_data["name"]
    path = f"{folder}/{name}" if folder else name
    data = form.cleaned_data["content"].replace("\r\n", "\n").encode()
    return filing.save(actor, workspace, path, data, MISSING)


def _rewrite(actor: Actor, workspace: Workspace, path: str, data: dict[str, str], overwrite: str) -> Entry:
    # A browser sends every line end as CRLF; the file keeps the sort it had.
    content = data["content"].replace("\r\n", "\n")
    # What can't be read here can't be written either, and writing says why.
    with suppress(NoSuchFile, NotText, PathRefused, TooLarge):
        if "\r\n" in WorkspaceFiles(workspace.slug).read_text(path, EDIT_BYTES):
            content = content.replace("\n", "\r\n")
    expected = overwrite or data["expected"]
    return filing.save(actor, workspace, path, content.encode(), MISSING if expected == GONE else expected)


def _as_it_is(files: WorkspaceFiles, path: str) -> str:
    """What "save anyway" sends back: it overwrites only what the person was told about, not a third one's change."""
    try:
        return files.fingerprint(path)
    except NoSuchFile:
        return GONE
