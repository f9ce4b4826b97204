"""Every page there is, with somebody who may see all of it: what the accessibility test walks through."""

from tests.browser.conftest import Place

# name -> (who, address). A `{session}` is one of tests/browser/seed.py's.
PAGES = {
    "login": ("", "/accounts/login/"),
    "logout": ("ada", "/accounts/logout/"),
    "password": ("ada", "/accounts/password/change/"),
    "second-factor": ("ada", "/accounts/2fa/"),
    "workspaces": ("admin", "/workspaces/"),
    "overview": ("ada", "/w/acme/"),
    "sessions": ("ada", "/w/acme/sessions/"),
    "sessions-none-found": ("ada", "/w/acme/sessions/?q=nothing+is+called+that"),
    "sessions-empty": ("admin", "/w/quiet/sessions/"),
    "start": ("ada", "/w/acme/sessions/start/"),
    "start-without-agents": ("admin", "/w/quiet/sessions/start/"),
    "text": ("alice", "{text}"),
    "schema": ("alice", "{schema}"),
    "options": ("alice", "{options}"),
    "several": ("alice", "{several}"),
    "viewer": ("victor", "{schema}"),
    "unknown": ("alice", "{unknown}"),
    "attention": ("alice", "{attention}"),
    "paused": ("alice", "{paused}"),
    "completed": ("alice", "{completed}"),
    "failed": ("alice", "{failed}"),
    "cancelled": ("alice", "{cancelled}"),
    "timeline": ("alice", "{completed}?tab=timeline"),
    "calls": ("alice", "{completed}?tab=calls"),
    "agents": ("ada", "/w/acme/agents/"),
    "agents-empty": ("admin", "/w/quiet/agents/"),
    "agent": ("ada", "/w/acme/agents/options/"),
    "agent-tools": ("ada", "/w/acme/agents/options/#tools"),
    "agent-suspension": ("ada", "/w/acme/agents/options/#suspension"),
    "agent-limits": ("ada", "/w/acme/agents/options/#limits"),
    "agent-script": ("ada", "/w/acme/agents/options/#script"),
    "agent-new": ("ada", "/w/acme/new-agent/"),
    "versions": ("ada", "/w/acme/agents/options/versions/"),
    "providers": ("ada", "/w/acme/providers/"),
    "provider": ("ada", "/w/acme/providers/house-model/"),
    "provider-new": ("ada", "/w/acme/new-provider/"),
    "files": ("ada", "/w/acme/files/"),
    "files-empty": ("admin", "/w/quiet/files/"),
    "file": ("ada", "/w/acme/files/reports/2026-07.csv"),
    "file-long": ("ada", "/w/acme/files/reports/everything.log"),
    "file-binary": ("ada", "/w/acme/files/logo.png"),
    "file-edit": ("ada", "/w/acme/edit/notes/deploy.md"),
    "file-new": ("ada", "/w/acme/new-file/notes"),
    "members": ("ada", "/w/acme/members/"),
    "member": ("ada", "/w/acme/members/alice/"),
    "tokens": ("ada", "/w/acme/tokens/"),
    "missing": ("ada", "/w/acme/sessions/00000000-0000-7000-8000-000000000000/"),
    "missing-for-nobody": ("", "/no/such/page"),
}


def address(place: Place, name: str) -> str:
    """Where that page is."""
    path = PAGES[name][1]
    if not path.startswith("{"):
        return path
    session, _, more = path[1:].partition("}")
    return place.page_of(session, more)
