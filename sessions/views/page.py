"""A session's page and its news: what is read, in which order, and the context its templates get.

Used by the view, by the poll, by every POST of the page and by the socket, so that all of them show the same.
Invariant: the cursor is the number the session's row had before anything else was read; what came later may be shown
already and comes again with the next news, which changes nothing (entries are found by their ids).
"""

from collections.abc import Mapping
from typing import Any

from django.conf import settings

from sessions.models import Session
from sessions.present.calls import call as call_of
from sessions.present.cards import Desk, Entered, card
from sessions.present.display import one_line
from sessions.present.header import header
from sessions.present.road import Scene, changed_calls, road
from sessions.present.timeline import item
from sessions.queries import page as reading
from sessions.queries.conversation import journal_after, journal_before
from sessions.queries.waits import open_waits
from workspaces import clock
from workspaces.models import Workspace
from workspaces.roles import Need, Role, allows

WINDOW = 150
BATCH = 200
TABS = ("transcript", "timeline", "calls")

Cards = Mapping[str, Entered]


def rights(role: Role) -> dict[str, bool]:
    """`can` of the templates: what somebody with *role* may do."""
    return {need.value: allows(role, need) for need in Need}


def frame(workspace: Workspace) -> dict[str, Any]:
    """The numbers in the frame of every page."""
    found = reading.rail(workspace)
    return {"needs": found.needs, "workers": found if found.alive else None}


def whole(
    session: Session, role: Role, tab: str = "transcript", before: int | None = None, entered: Cards | None = None
) -> dict[str, Any]:
    """The context of `detail.html`. *before*: the history up to that number (journal, or turn in the list of calls)."""
    workspace, cursor = session.workspace, session.seq
    context = _now(session, role, entered)
    if tab == "calls":
        rows, earlier = reading.calls_before(session, before)
        context |= {"calls": [call_of(row, workspace.slug) for row in rows], "calls_earlier": earlier}
    else:
        entries = journal_before(session.pk, min(before or cursor + 1, cursor + 1), WINDOW)
        first = entries[0].seq if entries and entries[0].seq > 1 else None
        if tab == "timeline":
            context |= {"timeline": [item(entry) for entry in entries], "timeline_earlier": first}
        else:
            context |= {"entries": road(_scene(session), reading.history(session, entries)), "earlier": first}
    # What is older does not move: only the newest stretch is live.
    socket = None if before else f"/ws/w/{workspace.slug}/sessions/{session.pk}/"
    return context | frame(workspace) | {"tab": tab, "cursor": cursor, "socket": socket}


def news(session: Session, role: Role, after: int | None, entered: Cards | None = None) -> dict[str, Any]:
    """The context of `_live.html`: what is new after the number *after*, at most 200 entries of it.

    `behind`: there is more. None as *after*: the page has no history to bring up to date.
    """
    entries = [] if after is None or after >= session.seq else journal_after(session.pk, after, BATCH)
    entries = [entry for entry in entries if entry.seq <= session.seq]
    past = reading.history(session, entries)
    cursor = entries[-1].seq if entries else session.seq
    return _now(session, role, entered) | {
        "entries": road(_scene(session), past),
        "timeline": [item(entry) for entry in entries],
        "calls": [call_of(row, session.workspace.slug) for row in changed_calls(past)],
        "cursor": None if after is None else max(cursor, after if after <= session.seq else 0),
        "behind": bool(entries) and cursor < session.seq,
        "needs": reading.needs(session.workspace),
    }


def _now(session: Session, role: Role, entered: Cards | None) -> dict[str, Any]:
    """The parts of a page that are drawn anew at each change: header, the lay-by, the cards."""
    waits = open_waits(session)
    unknown = [str(wait["call_id"]) for wait in waits if wait["kind"] == "unknown_outcome"]
    desk = Desk(role, clock.now(), reading.calls_by_id(unknown), entered or {})
    return {
        "workspace": session.workspace,
        "can": rights(role),
        "session": header(session, reading.facts(session), waits),
        "waits": [card(wait, desk) for wait in waits],
        "stream": "",
        "public_url": settings.PUBLIC_URL,
    }


def _scene(session: Session) -> Scene:
    text, agent = session.text, session.version.agent
    return Scene(
        session.workspace.slug, one_line(agent.name or agent.slug, 120), text.input, text.output, session.started_by
    )
