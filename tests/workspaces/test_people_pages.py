"""The pages of workspaces, members and tokens, as a browser without a script sees them."""

import re

from tests.cast import PASSWORD
from workspaces import tokens
from workspaces.actors import SYSTEM
from workspaces.models import ApiToken, Membership, User, Workspace
from workspaces.notify import inform
from workspaces.operations import issue_token


def test_a_superuser_makes_a_workspace_in_the_browser(browser_of, sue):
    browser = browser_of(sue)
    response = browser.post("/workspaces/", {"slug": "new-one", "name": "New <one>"}, follow=True)
    assert response.redirect_chain[-1][0] == "/w/new-one/"
    assert b"New &lt;one&gt;" in response.content
    assert Workspace.objects.get().created_by["name"] == "sue"


def test_a_taken_slug_is_said_beside_the_form_and_what_was_typed_stays(browser_of, sue, acme):
    response = browser_of(sue).post("/workspaces/", {"slug": "acme", "name": "Another one"})
    assert response.status_code == 422
    assert b"A workspace with the slug acme exists already." in response.content
    assert b"Another one" in response.content


def test_a_member_without_that_right_has_no_form_and_no_road(browser_of, ada):
    browser = browser_of(ada)
    assert b"New workspace" not in browser.get("/workspaces/").content
    assert browser.post("/workspaces/", {"slug": "new-one", "name": "x"}).status_code == 405
    assert Workspace.objects.count() == 1


def test_the_list_shows_only_ones_own_workspaces(browser_of, alice, other):
    page = browser_of(alice).get("/workspaces/").content.decode()
    assert "/w/acme/" in page
    assert "/w/other/" not in page


def test_the_overview_shows_notices_as_text(browser_of, alice, acme):
    inform(acme, "<b>Look</b> here")
    page = browser_of(alice).get("/w/acme/").content.decode()
    assert "&lt;b&gt;Look&lt;/b&gt; here" in page


def test_what_was_changed_is_shown_to_admins_only(browser_of, ada, alice, acme, ada_actor):
    issue_token(ada_actor, acme, "viewer", "for the audit")
    assert b"token.issued" in browser_of(ada).get("/w/acme/").content
    assert b"token.issued" not in browser_of(alice).get("/w/acme/").content


def test_an_admin_adds_changes_and_removes_a_member(browser_of, ada, acme, mallory):
    browser = browser_of(ada)
    browser.post("/w/acme/add-member/", {"add-username": "mallory", "add-role": "viewer"})
    assert Membership.objects.get(workspace=acme, user=mallory).role == "viewer"
    assert b"mallory" in browser.get("/w/acme/members/mallory/").content
    browser.post("/w/acme/members/mallory/role/", {"role": "operator"})
    assert Membership.objects.get(workspace=acme, user=mallory).role == "operator"
    page = browser.post("/w/acme/members/mallory/remove/", follow=True)
    assert b"mallory is not a member any more" in page.content
    assert not Membership.objects.filter(workspace=acme, user=mallory).exists()


def test_an_admin_makes_a_login_and_the_password_is_not_shown(browser_of, ada, client):
    browser = browser_of(ada)
    data = {"new-username": "nora", "new-password": PASSWORD, "new-role": "viewer"}
    page = browser.post("/w/acme/new-member/", data, follow=True)
    assert page.status_code == 200
    assert PASSWORD.encode() not in page.content
    assert client.login(username="nora", password=PASSWORD)


def test_a_weak_password_is_refused_beside_the_form_and_not_sent_back(browser_of, ada):
    page = browser_of(ada).post(
        "/w/acme/new-member/", {"new-username": "nora", "new-password": "12345", "new-role": "viewer"}
    )
    assert page.status_code == 422
    assert b"too short" in page.content
    assert b"12345" not in page.content
    assert not User.objects.filter(username="nora").exists()


def test_the_last_admin_is_told_so(browser_of, ada):
    page = browser_of(ada).post("/w/acme/members/ada/remove/")
    assert page.status_code == 422
    assert b"last admin" in page.content


def test_somebody_who_leaves_lands_on_the_list(browser_of, sue, ada, acme):
    Membership.objects.create(workspace=acme, user=sue, role="admin")
    assert browser_of(ada).post("/w/acme/members/ada/remove/")["Location"] == "/workspaces/"


def test_a_token_is_shown_once_and_works(browser_of, ada):
    browser = browser_of(ada)
    page = browser.post("/w/acme/tokens/", {"name": "ci", "role": "operator"})
    raw = re.search(r"layby_[\w-]{40,}", page.content.decode())[0]
    assert "no-store" in page["Cache-Control"]
    assert tokens.authenticate(raw).token_role == "operator"
    assert raw.encode() not in browser.get("/w/acme/tokens/").content
    address = f"/w/acme/tokens/{ApiToken.objects.get().pk}/"
    assert raw.encode() not in browser.get(address).content
    browser.post(address + "revoke/")
    assert tokens.authenticate(raw) is None
    assert b"revoked" in browser.get("/w/acme/tokens/").content


def test_only_a_superuser_is_offered_a_token_that_makes_workspaces(browser_of, ada, sue, acme):
    data = {"name": "big", "role": "admin", "creates_workspaces": "on"}
    assert b"creates_workspaces" not in browser_of(ada).get("/w/acme/tokens/").content
    browser_of(ada).post("/w/acme/tokens/", data)
    assert not ApiToken.objects.get().creates_workspaces
    browser_of(sue).post("/w/acme/tokens/", data)
    assert ApiToken.objects.filter(creates_workspaces=True).count() == 1


def test_somebody_elses_token_cannot_be_revoked(browser_of, ada, other):
    token, raw = tokens.issue(other, "viewer", "theirs", SYSTEM)
    assert browser_of(ada).post(f"/w/acme/tokens/{token.pk}/revoke/").status_code == 404
    assert tokens.authenticate(raw) is not None
