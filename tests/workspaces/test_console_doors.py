"""The console's doors: who gets in where; a matrix over every address of this room."""

import pytest
from django.urls import reverse

from workspaces.files import WorkspaceFiles
from workspaces.models import Membership
from workspaces.urls import urlpatterns

READ = {"home", "members", "files", "file", "file_download"}
OPERATE = {"file_edit", "file_delete", "file_new", "file_new_here", "file_upload", "file_upload_here"}
ADMINISTER = {"member", "token", "member_add", "member_new", "member_role", "member_remove", "tokens", "token_revoke"}
POST_ONLY = {"member_add", "member_new", "member_role", "member_remove", "token_revoke"} | {
    "file_delete",
    "file_upload",
    "file_upload_here",
}
ARGUMENTS = {
    "file": {"path": "a.txt"},
    "file_download": {"path": "a.txt"},
    "file_edit": {"path": "a.txt"},
    "file_delete": {"path": "a.txt"},
    "file_new": {"path": "d"},
    "file_upload": {"path": "d"},
    "member": {"username": "victor"},
    "token": {"token_id": "0190b8a0-0000-7000-8000-000000000000"},
    "member_role": {"username": "victor"},
    "member_remove": {"username": "victor"},
    "token_revoke": {"token_id": "0190b8a0-0000-7000-8000-000000000000"},
}


def address(name: str, slug: str = "acme") -> str:
    return reverse(f"workspaces:{name}", kwargs={"slug": slug, **ARGUMENTS.get(name, {})})


@pytest.fixture
def files(acme):
    files = WorkspaceFiles("acme")
    files.write("a.txt", b"text")
    return files


def test_every_address_of_a_workspace_is_in_this_matrix():
    names = {pattern.name for pattern in urlpatterns if "<slug:slug>" in str(pattern.pattern)}
    assert names == READ | OPERATE | ADMINISTER


@pytest.mark.parametrize("name", sorted(READ | OPERATE | ADMINISTER))
@pytest.mark.parametrize("method", ["get", "post"])
def test_without_a_login_every_address_leads_to_the_login_page(client, files, name, method):
    response = getattr(client, method)(address(name))
    assert response.status_code == 302
    assert response["Location"].startswith("/accounts/login/")


@pytest.mark.parametrize("name", sorted(READ | OPERATE | ADMINISTER))
@pytest.mark.parametrize("method", ["get", "post"])
def test_a_stranger_gets_the_same_answer_as_for_a_workspace_that_is_not_there(browser_of, mallory, files, name, method):
    act = getattr(browser_of(mallory), method)
    foreign, missing = act(address(name)), act(address(name, "nowhere"))
    if (name in POST_ONLY and method == "get") or (name in READ and method == "post"):
        assert foreign.status_code == missing.status_code == 405
    else:
        assert foreign.status_code == missing.status_code == 404
    assert b"acme" not in foreign.content
    assert files.read_bytes("a.txt") == b"text"


@pytest.mark.parametrize("name", sorted(READ))
def test_a_viewer_reads(browser_of, victor, files, name):
    assert browser_of(victor).get(address(name)).status_code == 200


@pytest.mark.parametrize("name", sorted(OPERATE | ADMINISTER))
def test_a_viewer_changes_nothing(browser_of, victor, ada, files, name):
    assert browser_of(victor).post(address(name)).status_code == 403
    assert files.read_bytes("a.txt") == b"text"
    assert Membership.objects.get(user=victor).role == "viewer"


@pytest.mark.parametrize("name", sorted(READ))
def test_a_page_that_is_only_read_takes_no_post(browser_of, ada, files, name):
    assert browser_of(ada).post(address(name)).status_code == 405


@pytest.mark.parametrize("name", sorted(ADMINISTER))
def test_operators_and_approvers_do_not_administer(browser_of, alice, bob, victor, name):
    assert browser_of(alice).post(address(name)).status_code == 403
    assert browser_of(bob).post(address(name)).status_code == 403


@pytest.mark.parametrize("name", sorted(POST_ONLY))
def test_a_get_never_acts(browser_of, ada, victor, files, name):
    assert browser_of(ada).get(address(name)).status_code == 405
    assert files.read_bytes("a.txt") == b"text"
    assert Membership.objects.get(user=victor).role == "viewer"


@pytest.mark.parametrize("name", sorted(OPERATE))
def test_an_operator_operates(browser_of, alice, files, name):
    files.make_folder("d")
    assert browser_of(alice).post(address(name)).status_code in (302, 409, 422)


def test_an_ex_member_is_a_stranger_at_the_next_click(browser_of, alice, files):
    browser = browser_of(alice)
    assert browser.get(address("files")).status_code == 200
    Membership.objects.filter(user=alice).delete()
    assert browser.get(address("files")).status_code == 404


def test_the_root_leads_to_the_persons_first_workspace(browser_of, alice, settings):
    settings.WORKSPACE_HOME = "workspaces:home"
    assert browser_of(alice).get("/")["Location"] == "/w/acme/"


def test_the_root_leads_somebody_without_a_workspace_to_what_to_do(browser_of, alice):
    Membership.objects.all().delete()
    browser = browser_of(alice)
    assert browser.get("/")["Location"] == "/workspaces/"
    assert b"You are in no workspace yet" in browser.get("/workspaces/").content


def test_without_a_token_of_the_page_no_form_is_taken(alice, files):
    from django.test import Client

    browser = Client(enforce_csrf_checks=True)
    browser.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")
    assert browser.post(address("file_delete")).status_code == 403
    assert files.read_bytes("a.txt") == b"text"
