"""Files in the browser: looked at, uploaded, edited without losing anybody's words, deleted."""

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import AsyncClient

from workspaces.files import WorkspaceFiles
from workspaces.models import AuditEntry
from workspaces.views.files import HEAD_BYTES, TAIL_BYTES


@pytest.fixture
def files(acme):
    return WorkspaceFiles("acme")


@pytest.fixture
def alices(browser_of, alice):
    return browser_of(alice)


def test_a_folder_is_browsed_to_a_file(alices, files):
    files.write("notes/plan <1>.md", b"# Plan & more\n")
    assert b'href="/w/acme/files/notes"' in alices.get("/w/acme/files/").content
    page = alices.get("/w/acme/files/notes").content.decode()
    href = re.search(r'href="(/w/acme/files/notes/plan[^"]+)"', page)[1]
    assert "# Plan &amp; more" in alices.get(href).content.decode()


def test_odd_names_are_reached_by_their_links(alices, files):
    for name in ("a?b#c.txt", "100%.txt", "é ü.txt", "a&b'\".txt", "%2e%2e"):
        files.write(name, name.encode())
    page = alices.get("/w/acme/files/").content.decode()
    links = re.findall(r'class="row" href="(/w/acme/files/[^"]+)"', page)
    assert len(links) == 5
    for link in links:
        assert alices.get(link.replace("&amp;", "&").replace("&#x27;", "'")).status_code == 200


@pytest.mark.parametrize("path", ["%2e%2e", "..%2f..%2fetc/passwd", "a/%2e%2e/%2e%2e/b", "%00", "%2fetc/passwd"])
def test_a_path_that_leads_out_is_refused_in_every_address(alices, files, path):
    for verb in ("files", "download", "edit", "new-file"):
        assert alices.get(f"/w/acme/{verb}/{path}").status_code in (200, 404, 422)
    for verb, data in (("edit", {"content": "x", "expected": "0"}), ("delete", {}), ("new-file", {"name": "x"})):
        assert alices.post(f"/w/acme/{verb}/{path}", data).status_code in (404, 409, 422)
    assert [entry.path for entry in files.walk()] == []


def test_a_link_that_leads_out_is_shown_but_not_opened(alices, files, data_folder):
    files.list()
    (data_folder / "secret").write_text("outside")
    (files.base / "acme" / "link").symlink_to(data_folder / "secret")
    assert b"not followed" in alices.get("/w/acme/files/").content
    for verb in ("files", "download", "edit"):
        response = alices.get(f"/w/acme/{verb}/link")
        assert response.status_code == 422
        assert b"outside" not in response.content


def test_a_download_is_an_attachment_nobody_runs(alices, files):
    files.write("page.html", b"<script>alert(1)</script>")
    response = alices.get("/w/acme/download/page.html")
    with pytest.warns(Warning, match="asynchronous iterators"):
        assert b"".join(response) == b"<script>alert(1)</script>"
    assert response["Content-Disposition"] == 'attachment; filename="page.html"'
    assert response["Content-Type"] == "application/octet-stream"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Length"] == "25"


def test_a_large_file_shows_its_beginning_and_its_end(alices, files):
    files.write("log", b"begin\n" + "é".encode() * ((HEAD_BYTES + TAIL_BYTES) // 2) + b"\nthe end")
    page = alices.get("/w/acme/files/log").content
    assert b"begin" in page
    assert b"the end" in page
    assert b"in between are not shown" in page
    assert len(page) < HEAD_BYTES + TAIL_BYTES + 50_000


def test_a_binary_file_is_offered_for_download_only(alices, files):
    files.write("bin", b"\x00\xff" * 10)
    files.write("big", b"\xff" * (HEAD_BYTES + TAIL_BYTES + 1))
    for name in ("bin", "big"):
        page = alices.get(f"/w/acme/files/{name}").content
        assert b"This is not a text file" in page
        assert b"/w/acme/edit/" not in page
        assert alices.get(f"/w/acme/edit/{name}").status_code == 422


def test_files_are_uploaded_into_a_folder(alices, files):
    sent = [SimpleUploadedFile("a.txt", b"one"), SimpleUploadedFile("b.bin", b"\x00two")]
    response = alices.post("/w/acme/upload/in/here", {"chosen": sent})
    assert response["Location"] == "/w/acme/files/in/here"
    assert files.read_bytes("in/here/a.txt") == b"one"
    assert files.read_bytes("in/here/b.bin") == b"\x00two"
    assert [entry.target for entry in AuditEntry.objects.filter(action="file.written").order_by("id")] == [
        "in/here/a.txt",
        "in/here/b.bin",
    ]


def test_an_upload_replaces_only_when_asked(alices, files):
    files.write("a.txt", b"old")
    refused = alices.post("/w/acme/upload/", {"chosen": SimpleUploadedFile("a.txt", b"new")})
    assert refused.status_code == 422
    assert b"already something at a.txt" in refused.content
    assert files.read_bytes("a.txt") == b"old"
    alices.post("/w/acme/upload/", {"chosen": SimpleUploadedFile("a.txt", b"new"), "replace": "on"})
    assert files.read_bytes("a.txt") == b"new"


def test_an_upload_of_nothing_says_what_to_do(alices, files):
    response = alices.post("/w/acme/upload/", {})
    assert response.status_code == 422
    assert b"Choose a file first" in response.content


def test_an_upload_never_leaves_its_folder_whatever_its_name(alices, files):
    for name in ("../../evil.txt", "/etc/evil.txt", "..\\evil.txt", "..", "\x00"):
        body = (
            f'--B\r\nContent-Disposition: form-data; name="chosen"; filename="{name}"\r\n'
            "Content-Type: text/plain\r\n\r\nx\r\n--B--\r\n"
        )
        response = alices.post("/w/acme/upload/d", body.encode(), content_type="multipart/form-data; boundary=B")
        assert response.status_code in (302, 400, 422)
    assert {entry.path for entry in files.walk()} <= {"d", "d/evil.txt"}
    assert [path.name for path in files.base.iterdir()] == ["acme"]


def test_a_text_file_is_edited(alices, files):
    files.write("a.txt", b"one\ntwo\n")
    page = alices.get("/w/acme/edit/a.txt").content.decode()
    expected = re.search(r'name="expected" value="(\w{64})"', page)[1]
    response = alices.post("/w/acme/edit/a.txt", {"content": "one\r\nthree\r\n", "expected": expected})
    assert response["Location"] == "/w/acme/files/a.txt"
    assert files.read_bytes("a.txt") == b"one\nthree\n"


def test_a_file_keeps_its_sort_of_line_ends(alices, files):
    files.write("dos.txt", b"one\r\ntwo\r\n")
    alices.post("/w/acme/edit/dos.txt", {"content": "1\r\n2\r\n", "expected": files.fingerprint("dos.txt")})
    assert files.read_bytes("dos.txt") == b"1\r\n2\r\n"


def test_a_save_over_somebody_elses_change_is_refused_and_the_text_kept(alices, files):
    files.write("a.txt", b"one")
    read = files.fingerprint("a.txt")
    files.write("a.txt", b"changed by Bob")
    response = alices.post("/w/acme/edit/a.txt", {"content": "my long text", "expected": read})
    page = response.content.decode()
    assert response.status_code == 409
    assert "was changed by somebody else since you read it" in page
    assert "my long text" in page
    assert files.read_bytes("a.txt") == b"changed by Bob"
    overwrite = re.search(r'name="overwrite" value="(\w{64})"', page)[1]
    files.write("a.txt", b"changed again")
    again = {"content": "my long text", "expected": read, "overwrite": overwrite}
    assert alices.post("/w/acme/edit/a.txt", again).status_code == 409
    again["overwrite"] = files.fingerprint("a.txt")
    assert alices.post("/w/acme/edit/a.txt", again).status_code == 302
    assert files.read_bytes("a.txt") == b"my long text"


def test_a_save_of_a_file_that_was_deleted_keeps_the_text(alices, files):
    files.write("a.txt", b"one")
    read = files.fingerprint("a.txt")
    files.delete("a.txt")
    response = alices.post("/w/acme/edit/a.txt", {"content": "mine", "expected": read})
    assert response.status_code == 409
    assert b"mine" in response.content
    assert b'value="gone"' in response.content
    alices.post("/w/acme/edit/a.txt", {"content": "mine", "expected": read, "overwrite": "gone"})
    assert files.read_bytes("a.txt") == b"mine"


def test_a_new_file_is_written_and_never_over_an_old_one(alices, files):
    response = alices.post("/w/acme/new-file/", {"name": "notes/a.md", "content": "hello"})
    assert response["Location"] == "/w/acme/files/notes/a.md"
    response = alices.post("/w/acme/new-file/notes", {"name": "a.md", "content": "other"})
    assert response.status_code == 422
    assert b"other" in response.content
    assert files.read_bytes("notes/a.md") == b"hello"


@pytest.mark.parametrize("name", ["../x", "/x", "a\nb", "", "n" * 300])
def test_a_bad_name_is_said_beside_the_form(alices, files, name):
    response = alices.post("/w/acme/new-file/", {"name": name, "content": "kept"})
    assert response.status_code == 422
    assert b"kept" in response.content
    assert list(files.walk()) == []


def test_a_file_and_an_empty_folder_are_deleted(alices, files):
    files.write("d/a.txt", b"x")
    full = alices.post("/w/acme/delete/d", follow=True)
    assert b"is not empty" in full.content
    assert alices.post("/w/acme/delete/d/a.txt")["Location"] == "/w/acme/files/d"
    assert b"Delete the folder" in alices.get("/w/acme/files/d").content
    alices.post("/w/acme/delete/d")
    assert list(files.walk()) == []
    again = alices.post("/w/acme/delete/d", follow=True)
    assert b"was deleted already" in again.content


def test_a_missing_file_is_a_page_that_says_so(alices, files):
    response = alices.get("/w/acme/files/nothing.txt")
    assert response.status_code == 404
    assert b"There is no file nothing.txt" in response.content


def test_what_a_file_says_is_shown_as_text_and_loads_nothing(alices, files):
    files.write("evil.html", b'<img src="https://evil.example/x"><script>x</script>{{ 7|add:1 }}')
    page = alices.get("/w/acme/files/evil.html").content.decode()
    assert "&lt;img src=" in page
    assert "<script>x" not in page
    assert 'src="https' not in page


@pytest.mark.django_db(transaction=True)
async def test_a_download_streams_as_the_server_serves_it(alice, files):
    files.write("big", b"x" * 300_000)
    client = AsyncClient()
    await client.aforce_login(alice, backend="django.contrib.auth.backends.ModelBackend")
    response = await client.get("/w/acme/download/big")
    pieces = [piece async for piece in response.streaming_content]
    assert [len(piece) for piece in pieces] == [65536] * 4 + [300_000 - 4 * 65536]
    assert response.is_async
