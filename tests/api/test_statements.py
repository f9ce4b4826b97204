"""What a page costs: a constant number of statements, each served by the index that was made for it."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions.models import Session, SessionText, Yield
from sessions.queries import conversation, documents, inbox, lists, status, waits, workers
from tests.api.conftest import ASK, SCRIPT, work

pytestmark = pytest.mark.django_db(transaction=True)

MOST = {
    "list": 4,
    "filtered list": 4,
    "inbox": 5,
    "session": 2,
    "status": 2,
    "messages": 3,
    "journal": 1,
    "waits": 4,
    "workers": 4,
}


@pytest.fixture
def reads(start, worker, acme):
    """The reads, on a workspace with *n* waiting sessions whose newest has *n* turns."""

    def make(n):
        for _ in range(n):
            start(SCRIPT)
        long = start([*[{"calls": [{"tool": "system__get_datetime"}]}] * n, {"calls": [ASK, ASK]}])
        work(worker)
        session = Session.objects.select_related("text", "version__agent", "workspace").get(pk=long.pk)
        everything = {"needs_person": True, "waiting_kind": "ask_user", "q": "decide", "agent": "agent-0"}
        return {
            "list": lambda: lists.session_page(acme),
            "filtered list": lambda: lists.session_page(acme, **everything),
            "inbox": lambda: inbox.inbox(acme),
            "session": lambda: documents.session_document(session),
            "status": lambda: status.status_document(session),
            "messages": lambda: conversation.message_page(session),
            "journal": lambda: conversation.journal_page(session),
            "waits": lambda: waits.wait_page(session),
            "workers": lambda: workers.workers_document(acme),
        }

    return make


def test_the_number_of_statements_does_not_grow(reads, django_assert_max_num_queries):
    for n in (1, 6):
        for name, read in reads(n).items():
            with django_assert_max_num_queries(MOST[name]):
                read()


def plan_of(read):
    """The plans of what *read* asks, with no way around an index that could serve."""
    with CaptureQueriesContext(connection) as asked:
        read()
    plans = []
    with connection.cursor() as cursor:
        cursor.execute("SET enable_seqscan = off")
        cursor.execute("SET enable_sort = off")
        for query in asked.captured_queries:
            if query["sql"].startswith(("SELECT", "(SELECT")):
                cursor.execute("EXPLAIN " + query["sql"])
                plans.append("\n".join(row[0] for row in cursor.fetchall()))
        cursor.execute("RESET ALL")
    return "\n".join(plans)


def test_lists_and_inbox_are_read_in_the_order_of_their_indexes(reads, acme):
    made = reads(1)
    assert "session_list" in plan_of(made["list"])
    shown = plan_of(lambda: lists.session_page(acme, states=["parked"]))
    assert "session_list" in shown and "Seq Scan" not in shown
    waiting = plan_of(made["inbox"])
    assert waiting.count("yield_inbox") == 1 and "yield_expire" not in waiting
    # The search's own condition; which of two ways it is joined by is the planner's affair.
    assert "session_title_search" in plan_of(lambda: list(SessionText.objects.filter(title__icontains="50% of it")))
    assert "yield_session" in plan_of(made["waits"])


def test_nothing_is_counted(reads):
    for name, read in reads(1).items():
        with CaptureQueriesContext(connection) as asked:
            read()
        assert not [q for q in asked.captured_queries if "count(" in q["sql"].lower()], name
    assert Yield.objects.exists()
