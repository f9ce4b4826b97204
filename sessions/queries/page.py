"""What the session page reads beside the documents: what a stretch of the journal speaks of, and the header's facts.

The page, its poll and its socket are made from journal entries: a page from the newest ones, the news from those after
a cursor. `history` reads what those entries name, with a constant number of statements.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Q

from sessions.models import Blob, Call, JournalEntry, Message, Session, Steer, Yield
from sessions.queries.conversation import JournalItem
from sessions.queries.documents import loaded, yield_documents
from sessions.states import State
from workspaces.errors import NotFound
from workspaces.ids import parse_id
from workspaces.models import Workspace

COUNTED = 1_000
MAX_CALLS = 200
# Above it the times in the header are those since the last wake: adding up a long journal at each update costs more.
ADDED_UP = 2_000


@dataclass(frozen=True)
class History:
    """A stretch of a session's journal, and the rows its entries speak of.

    `replies`: turn -> what the model said; `asked`: turn -> the entry of that reply, also of one before the stretch
    whose calls it speaks of; `calls`: turn -> its calls in order; `waits`: documents; `sent`: messages of people.
    """

    entries: Sequence[JournalItem]
    replies: Mapping[int, str] = field(default_factory=dict)
    asked: Mapping[int, JournalItem] = field(default_factory=dict)
    calls: Mapping[int, list[Call]] = field(default_factory=dict)
    waits: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    sent: Mapping[str, Steer] = field(default_factory=dict)
    turn_of: Mapping[str, int] = field(default_factory=dict)


def history(session: Session, entries: Sequence[JournalItem]) -> History:
    """The rows that *entries* of *session* speak of. At most seven statements; none for no entries."""
    if not entries:
        return History(entries)
    asked = {e.data["turn"]: e for e in entries if e.kind == "model.replied"}
    waits = _documents(session, _named(entries, "yield"))
    named = {*_named(entries, "call"), *(UUID(w["call_id"]) for w in waits.values() if w["call_id"])}
    calls: dict[int, list[Call]] = {}
    mine = Call.objects.filter(session=session)
    about = mine.filter(Q(turn__in=list(asked)) | Q(turn__in=mine.filter(pk__in=named).values("turn")))
    for call in about.order_by("turn", "position"):
        calls.setdefault(call.turn, []).append(call)
    if before := [turn for turn in calls if turn not in asked]:
        asked = {**_replies_before(session, entries[0].seq, len(before)), **asked}
    said = Message.objects.filter(session=session, role="assistant")
    # The newest reply too: the road's end says the output only where that is another text.
    newest = said.order_by("-created_at").values("turn")[:1]
    found = said.filter(Q(turn__in={*asked, *calls}) | Q(turn=newest))
    replies = {turn: str(loaded(body, {}).get("text", "")) for turn, body in found.values_list("turn", "body")}
    sent = Steer.objects.filter(session=session, pk__in=_named(entries, "message"))
    return History(
        entries,
        replies,
        asked,
        calls,
        waits,
        {str(steer.pk): steer for steer in sent},
        {str(call.pk): turn for turn, row in calls.items() for call in row},
    )


def _named(entries: Iterable[JournalItem], name: str) -> set[UUID]:
    found = (parse_id(e.data[name]) for e in entries if isinstance(e.data, dict) and isinstance(e.data.get(name), str))
    return {id_ for id_ in found if id_ is not None}


def _documents(session: Session, ids: set[UUID]) -> dict[str, dict[str, Any]]:
    rows = Yield.objects.filter(session=session, pk__in=ids) if ids else []
    return {wait["id"]: wait for wait in yield_documents(rows)}


def _replies_before(session: Session, seq: int, count: int) -> dict[int, JournalItem]:
    """The newest *count* replies before an entry: calls that still move belong to the newest turns."""
    found = JournalEntry.objects.filter(session=session, kind="model.replied", seq__lt=seq).order_by("-seq")[:count]
    items = [JournalItem(e.seq, e.kind, e.at, e.actor, loaded(e.data, {})) for e in found]
    return {item.data["turn"]: item for item in items}


def wait_of(session: Session, wait: UUID) -> dict[str, Any]:
    """The document of a wait of *session*, open or over. Raises NotFound."""
    found = _documents(session, {wait})
    if not found:
        raise NotFound("There is no such wait in this session.")
    return found[str(wait)]


def calls_before(session: Session, turn: int | None = None) -> tuple[list[Call], int | None]:
    """(the newest 200 calls of turns before *turn* in order, the turn to go on before or None if that was all)."""
    found = Call.objects.filter(session=session)
    if turn is not None:
        found = found.filter(turn__lt=turn)
    rows = list(found.order_by("-turn", "-position")[: MAX_CALLS + 1])[::-1]
    if len(rows) <= MAX_CALLS:
        return rows, None
    first = rows[0].turn
    whole = [call for call in rows if call.turn > first] or rows[1:]  # a turn of over 200 calls: its newest ones
    return whole, whole[0].turn


def calls_by_id(ids: Iterable[str]) -> dict[str, Call]:
    """Calls by their ids."""
    wanted = [id_ for text in ids if (id_ := parse_id(text)) is not None]
    return {str(call.pk): call for call in Call.objects.filter(pk__in=wanted)} if wanted else {}


@dataclass(frozen=True)
class Facts:
    """What the header says. `running` and `parked` are seconds; `whole`: of the whole life, not since the last wake."""

    model_calls: int = 0
    tool_calls: int = 0
    parked_at: datetime | None = None
    paused_by: Mapping[str, Any] | None = None
    running: float = 0.0
    parked: float = 0.0
    whole: bool = True


FACTS = """/* page.facts: index message_session, index call_session, primary keys */
SELECT (SELECT turn FROM agent_sessions_message WHERE session_id = %(id)s ORDER BY created_at DESC LIMIT 1),
    (SELECT count(*) FROM agent_sessions_call WHERE session_id = %(id)s),
    (SELECT parked_at FROM agent_sessions_parkedstate WHERE session_id = %(id)s),
    (SELECT actor FROM agent_sessions_journal WHERE %(paused)s AND session_id = %(id)s AND kind = 'session.paused'
        AND actor ->> 'kind' <> 'system' ORDER BY seq DESC LIMIT 1)"""

# What a session is from an entry on. A resume or retry that found open waits leaves it parked and writes no more.
TIMES = """/* page.times: the primary key; only for journals up to ADDED_UP entries */
SELECT state, sum(extract(epoch FROM until - at))::float8 FROM (
    SELECT at, lead(at, 1, COALESCE(%(ended)s::timestamptz, clock_timestamp())) OVER (ORDER BY seq) AS until,
        CASE kind WHEN 'session.running' THEN 'running'
            WHEN 'session.parked' THEN 'parked' WHEN 'session.attention' THEN 'parked'
            WHEN 'session.retried' THEN 'parked' WHEN 'session.resumed' THEN
                CASE WHEN lag(kind) OVER (ORDER BY seq) = 'session.paused' THEN 'parked' ELSE 'running' END
            ELSE 'other' END AS state
    FROM agent_sessions_journal WHERE session_id = %(id)s AND kind LIKE 'session.%%' AND kind <> 'session.moved'
        AND NOT (kind = 'session.paused' AND data LIKE '%%"asked"%%')
) AS spans WHERE state <> 'other' GROUP BY state"""


def facts(session: Session) -> Facts:
    """The header's facts of *session*. Two statements, one for a long journal."""
    params: dict[str, Any] = {"id": session.pk, "paused": session.state == State.PAUSED, "ended": session.ended_at}
    with connection.cursor() as cursor:
        cursor.execute(FACTS, params)
        turn, tool_calls, parked_at, paused_by = cursor.fetchone()
        known = {
            "model_calls": turn or 0,
            "tool_calls": tool_calls,
            "parked_at": parked_at,
            "paused_by": loaded(paused_by) if isinstance(paused_by, str) else paused_by,
        }
        if session.seq > ADDED_UP:
            return Facts(**known, running=session.running_ms / 1000, whole=False)
        cursor.execute(TIMES, params)
        spans = dict(cursor.fetchall())
    return Facts(**known, running=spans.get("running", 0.0), parked=spans.get("parked", 0.0))


@dataclass(frozen=True)
class Rail:
    """What the frame of every page shows. `needs`: waits and set-aside sessions that need a person, up to 1,000."""

    needs: int
    alive: int
    busy: int
    slots: int
    parked: int


NEEDS = """/* page.needs: index yield_inbox, index session_attention; bounded */
SELECT (SELECT count(*) FROM (SELECT 1 FROM agent_sessions_yield WHERE workspace_id = %(workspace)s
        AND outcome IS NULL AND reason IN ('approval', 'question', 'breakpoint') LIMIT %(most)s) AS waits)
    + (SELECT count(*) FROM (SELECT 1 FROM agent_sessions_session WHERE workspace_id = %(workspace)s
        AND attention IS NOT NULL LIMIT %(most)s) AS aside)"""

RAIL = """/* page.rail: index session_list; bounded */
SELECT count(*), COALESCE(sum(busy), 0), COALESCE(sum(slots), 0),
    (SELECT count(*) FROM (SELECT 1 FROM agent_sessions_session WHERE workspace_id = %(workspace)s
        AND state = 'parked' LIMIT %(most)s) AS parked)
FROM agent_sessions_worker WHERE alive_until > clock_timestamp()"""


def needs(workspace: Workspace) -> int:
    """How much of *workspace* needs a person, up to 1,000. One statement."""
    with connection.cursor() as cursor:
        cursor.execute(NEEDS, {"workspace": workspace.pk, "most": COUNTED})
        return min(int(cursor.fetchone()[0]), COUNTED)


def rail(workspace: Workspace) -> Rail:
    """The frame's numbers. Two statements."""
    with connection.cursor() as cursor:
        cursor.execute(RAIL, {"workspace": workspace.pk, "most": COUNTED * 10})
        alive, busy, slots, parked = cursor.fetchone()
    return Rail(needs(workspace), int(alive), int(busy), int(slots), int(parked))


SEQS = "/* page.seqs: the primary key */ SELECT id, seq FROM agent_sessions_session WHERE id = ANY(%s)"

LIST_SEQS = """/* page.list_seqs: index session_list, one ordered look per workspace and state */
SELECT w.id, s.id, s.seq FROM unnest(%s::uuid[]) AS w(id) CROSS JOIN unnest(%s::text[]) AS t(state)
CROSS JOIN LATERAL (
    SELECT id, seq FROM agent_sessions_session
    WHERE workspace_id = w.id AND state = t.state ORDER BY id DESC LIMIT 50
) AS s"""


def seqs(sessions: Iterable[UUID], workspaces: Iterable[UUID]) -> tuple[dict[UUID, int], dict[UUID, dict[UUID, int]]]:
    """The journal numbers of *sessions*, and per workspace those of its newest sessions in each state (50 each).

    What open pages are compared with. Two statements at most.
    """
    one: dict[UUID, int] = {}
    many: dict[UUID, dict[UUID, int]] = {}
    with connection.cursor() as cursor:
        if wanted := list(sessions):
            cursor.execute(SEQS, [wanted])
            one = dict(cursor.fetchall())
        if places := list(workspaces):
            cursor.execute(LIST_SEQS, [places, [str(state) for state in State]])
            for workspace, session, seq in cursor.fetchall():
                many.setdefault(workspace, {})[session] = seq
    return one, many


def whole_result(session: Session, call: str) -> bytes:
    """The whole result of a call whose result was shortened for the model. Raises NotFound."""
    id_ = parse_id(call)
    blob = Call.objects.filter(session=session, pk=id_).values_list("blob", flat=True).first() if id_ else None
    found = Blob.objects.filter(pk=blob, workspace=session.workspace).first() if blob else None
    if found is None:
        raise NotFound("There is no result kept for this call.")
    return bytes(found.bytes)
