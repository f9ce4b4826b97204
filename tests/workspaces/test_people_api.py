"""The API of workspaces, members, tokens and files: the same rules, in JSON."""

import pytest

from tests.cast import PASSWORD
from workspaces import tokens
from workspaces.actors import SYSTEM
from workspaces.files import MAX_FILE_BYTES, WorkspaceFiles
from workspaces.models import ApiToken, Membership, Workspace

JSON = "application/json"


@pytest.fixture
def files(acme):
    return WorkspaceFiles("acme")


def problem(response, status: int, code: str) -> str:
    assert (response.status_code, response["Content-Type"]) == (status, "application/problem+json")
    body = response.json()
    assert (body["status"], body["code"]) == (status, code)
    return body["detail"]


@pytest.mark.parametrize("path", ["workspaces", "members", "tokens", "files", "files/a.txt"])
@pytest.mark.parametrize("token", ["", "layby_wrong", "admin"])
def test_without_a_token_there_is_nothing(api_as, acme, path, token):
    problem(api_as(token).get(f"/api/{path}"), 401, "unauthenticated")


def test_a_superusers_token_makes_a_workspace(api_as, superuser_token):
    response = api_as(superuser_token).post("/api/workspaces", {"slug": "new-one", "name": "New"}, content_type=JSON)
    assert response.status_code == 201
    assert response.json()["slug"] == "new-one"
    assert Workspace.objects.get(slug="new-one").created_by["name"] == "superuser"


def test_other_tokens_do_not(api_as, admin_token, operator_token):
    for token in (admin_token, operator_token):
        response = api_as(token).post("/api/workspaces", {"slug": "new-one", "name": "New"}, content_type=JSON)
        problem(response, 403, "forbidden")
    assert Workspace.objects.count() == 1


def test_a_taken_or_bad_slug_is_a_clear_error(api_as, superuser_token):
    api = api_as(superuser_token)
    problem(api.post("/api/workspaces", {"slug": "acme", "name": "x"}, content_type=JSON), 409, "already_exists")
    problem(api.post("/api/workspaces", {"slug": "../x", "name": "x"}, content_type=JSON), 422, "invalid")
    problem(api.post("/api/workspaces", {"slug": "okay"}, content_type=JSON), 422, "invalid")
    problem(api.post("/api/workspaces", {"slug": "okay", "name": "a\x00"}, content_type=JSON), 422, "invalid")
    assert Workspace.objects.count() == 1


@pytest.mark.parametrize(
    "body", ["{", '{"slug": NaN, "name": "x"}', '{"slug": "okay", "name": "x", "nmae": "y"}', '["slug"]', '{"slug": 7}']
)
def test_a_body_that_is_not_as_it_should_be_is_refused_in_words(api_as, superuser_token, body):
    problem(api_as(superuser_token).post("/api/workspaces", body, content_type=JSON), 422, "invalid")
    assert Workspace.objects.count() == 1


def test_members_are_listed_page_by_page(api_as, viewer_token, alice, bob, victor, mallory):
    api = api_as(viewer_token)
    first = api.get("/api/members?limit=2").json()
    assert [item["username"] for item in first["items"]] == ["alice", "bob"]
    rest = api.get("/api/members", {"limit": 2, "cursor": first["next_cursor"]}).json()
    assert [(item["username"], item["role"]) for item in rest["items"]] == [("victor", "viewer")]
    assert rest["next_cursor"] is None
    problem(api.get("/api/members?cursor=!!"), 422, "invalid")
    problem(api.get("/api/members?limit=0"), 422, "invalid")


def test_an_admins_token_manages_members(api_as, admin_token, ada, mallory, acme):
    api = api_as(admin_token)
    added = api.post("/api/members", {"username": "mallory", "role": "viewer"}, content_type=JSON)
    assert (added.status_code, added.json()["role"]) == (201, "viewer")
    made = api.post("/api/members", {"username": "nora", "role": "viewer", "password": PASSWORD}, content_type=JSON)
    assert made.status_code == 201
    assert PASSWORD not in made.content.decode()
    assert api.put("/api/members/nora", {"role": "operator"}, content_type=JSON).json()["role"] == "operator"
    assert api.delete("/api/members/nora").status_code == 204
    problem(api.delete("/api/members/nora"), 404, "not_found")
    problem(api.delete("/api/members/ada"), 409, "last_admin")
    problem(api.post("/api/members", {"username": "ghost", "role": "viewer"}, content_type=JSON), 404, "not_found")
    problem(api.post("/api/members", {"username": "ada", "role": "viewer"}, content_type=JSON), 409, "already_exists")


def test_lesser_tokens_do_not_manage(api_as, approver_token, alice):
    api = api_as(approver_token)
    problem(api.post("/api/members", {"username": "x", "role": "viewer"}, content_type=JSON), 403, "forbidden")
    problem(api.put("/api/members/alice", {"role": "admin"}, content_type=JSON), 403, "forbidden")
    problem(api.delete("/api/members/alice"), 403, "forbidden")
    problem(api.get("/api/tokens"), 403, "forbidden")
    problem(api.post("/api/tokens", {"name": "x", "role": "viewer"}, content_type=JSON), 403, "forbidden")
    assert Membership.objects.get(user=alice).role == "operator"


def test_a_token_of_another_workspace_never_reaches_this_one(api_as, foreign_token, alice, files):
    files.write("a.txt", b"x")
    api = api_as(foreign_token)
    assert api.get("/api/members").json()["items"] == []
    assert [item["slug"] for item in api.get("/api/workspaces").json()["items"]] == ["other"]
    problem(api.put("/api/members/alice", {"role": "viewer"}, content_type=JSON), 404, "not_found")
    problem(api.get("/api/files/a.txt"), 404, "not_found")
    mine, _ = tokens.issue(Workspace.objects.get(slug="acme"), "viewer", "mine", SYSTEM)
    problem(api.delete(f"/api/tokens/{mine.pk}"), 404, "not_found")


def test_tokens_are_issued_listed_and_revoked(api_as, admin_token):
    api = api_as(admin_token)
    made = api.post("/api/tokens", {"name": "ci", "role": "operator"}, content_type=JSON).json()
    assert tokens.authenticate(made["token"]).name == "ci"
    listed = api.get("/api/tokens").content.decode()
    assert made["id"] in listed
    assert made["token"] not in listed
    assert ApiToken.objects.get(pk=made["id"]).sha256 not in listed
    assert api.delete(f"/api/tokens/{made['id']}").status_code == 204
    assert tokens.authenticate(made["token"]) is None
    problem(api.delete("/api/tokens/nonsense"), 404, "not_found")


def test_a_token_can_never_issue_a_superusers_token(api_as, admin_token):
    body = {"name": "x", "role": "admin", "creates_workspaces": True}
    api_as(admin_token).post("/api/tokens", body, content_type=JSON)
    assert not ApiToken.objects.filter(creates_workspaces=True).exists()


def test_files_are_written_read_listed_and_deleted(api_as, operator_token):
    api = api_as(operator_token)
    made = api.put("/api/files/notes/a.bin", b"\x00\xff", content_type="application/octet-stream")
    assert (made.status_code, made.json()["path"], made.json()["size"]) == (201, "notes/a.bin", 2)
    assert api.put("/api/files/notes/a.bin", b"{not json", content_type=JSON).status_code == 200
    read = api.get("/api/files/notes/a.bin")
    with pytest.warns(Warning, match="asynchronous iterators"):
        assert b"".join(read) == b"{not json"
    assert read["X-Content-Type-Options"] == "nosniff"
    assert [item["path"] for item in api.get("/api/files").json()["items"]] == ["notes"]
    (item,) = api.get("/api/files?path=notes").json()["items"]
    assert (item["kind"], item["name"]) == ("file", "a.bin")
    assert item["modified_at"].endswith("Z")
    assert api.delete("/api/files/notes/a.bin").status_code == 204
    problem(api.get("/api/files/notes/a.bin"), 404, "not_found")


def test_a_viewers_token_reads_only(api_as, viewer_token, files):
    files.write("a.txt", b"x")
    api = api_as(viewer_token)
    assert api.get("/api/files/a.txt").status_code == 200
    problem(api.put("/api/files/a.txt", b"y"), 403, "forbidden")
    problem(api.delete("/api/files/a.txt"), 403, "forbidden")
    assert files.read_bytes("a.txt") == b"x"


@pytest.mark.parametrize("path", ["%2e%2e/x", "a/..%2f..%2fx", "%2fetc/passwd", "a%00b", "n" * 256, ".layby-1.part"])
def test_a_path_that_leads_out_is_refused(api_as, operator_token, files, path):
    api = api_as(operator_token)
    problem(api.put(f"/api/files/{path}", b"x"), 422, "path_refused")
    problem(api.get(f"/api/files/{path}"), 422, "path_refused")
    problem(api.get(f"/api/files?path={path}"), 422, "path_refused")
    problem(api.delete(f"/api/files/{path}"), 422, "path_refused")
    assert list(files.walk()) == []


class Gigabyte:
    """A body of 1 GiB that counts how much of it was read."""

    def __init__(self) -> None:
        self.read_bytes = 0

    def read(self, size: int = -1) -> bytes:
        assert size >= 0, "the whole body was asked for"
        size = min(size, 2**30 - self.read_bytes)
        self.read_bytes += size
        return b"\0" * size

    def readline(self) -> bytes:
        return self.read(80)


def test_a_body_of_one_gigabyte_is_refused_by_its_length_without_reading(api_as, operator_token, files):
    body = Gigabyte()
    response = api_as(operator_token).generic(
        "PUT", "/api/files/big", **{"wsgi.input": body, "CONTENT_LENGTH": str(2**30)}
    )
    problem(response, 413, "too_large")
    assert body.read_bytes == 0
    assert list(files.walk()) == []


def test_a_body_that_hides_its_length_is_refused_at_25_mib(api_as, operator_token, files, monkeypatch):
    body = Gigabyte()
    monkeypatch.setattr("workspaces.api._body", lambda request: iter(lambda: body.read(65536), b""))
    problem(api_as(operator_token).put("/api/files/big", b""), 413, "too_large")
    assert body.read_bytes <= MAX_FILE_BYTES + 65536
    assert list(files.walk()) == []


def test_25_mib_fit(api_as, operator_token, files):
    response = api_as(operator_token).put(
        "/api/files/big", b"x" * MAX_FILE_BYTES, content_type="application/octet-stream"
    )
    assert response.status_code == 201
    assert files.stat("big").size == MAX_FILE_BYTES
