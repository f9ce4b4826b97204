"""The connection is cut at any statement, the reply of any commit lost: the session ends as it would have.

One session with bodies, questions and an event is driven again and again; the k-th time the fault comes at the k-th
statement or commit. Then the sweep, a worker and the people do what they always do.
"""

from datetime import timedelta

import pytest
from django.db import InterfaceError, OperationalError, connection
from django.db.backends.postgresql.base import DatabaseWrapper

from sessions.engine import runner, store, sweep
from sessions.models import Call, ParkedState, Session
from sessions.operations.answers import answer, settle_unknown
from tests.sessions import toolset
from tests.sessions.conftest import ASK, call, journal
from workspaces import clock
from workspaces.actors import SYSTEM

pytestmark = pytest.mark.django_db(transaction=True)

SCRIPT = [{"calls": [call("once"), ASK]}, {"calls": [call("safe"), call("safe2")]}, {"calls": [call("wait", name="q")]}]
# Every third statement keeps this quick; all of them have been tried, and the remainder moves with each change of code.
EVERY = {"statement": 3, "commit": 1}
AWAY = (OperationalError, InterfaceError)


class Fault:
    """Counts statements or commits; strikes once, at number *at*."""

    def __init__(self, kind, at):
        self.kind, self.at, self.count, self.struck = kind, at, 0, False

    def _now(self, kind):
        if kind != self.kind:
            return False
        self.count += 1
        self.struck = self.struck or self.count == self.at
        return self.count == self.at

    def statement(self, execute, *arguments):
        if self._now("statement"):
            connection.connection.close()
        return execute(*arguments)

    def commit(self, wrapper, real):
        real(wrapper)
        if self._now("commit"):
            wrapper.connection.close()
            raise OperationalError("the reply is lost")


def act(session, actor):
    """A person or a publisher ends what is open."""
    for wait in list(session.yields.filter(outcome=None)):
        row = Session.objects.select_related("workspace").get(pk=session.pk)
        if wait.kind == "unknown_outcome":
            settle_unknown(actor, row, str(wait.pk), "succeeded", "seen")
        elif wait.kind == "external":
            store.publish(row.workspace_id, "external:q:", 1, SYSTEM)
        else:
            answer(actor, row, "yes", wait=str(wait.pk))


def lap(session, worker, actor, fault, monkeypatch):
    """Drive until the fault has struck or the session has ended."""
    real = DatabaseWrapper._commit
    with monkeypatch.context() as patch, connection.execute_wrapper(fault.statement):
        patch.setattr(DatabaseWrapper, "_commit", lambda wrapper: fault.commit(wrapper, real))
        for _ in range(4):
            for step in (lambda: runner.work(worker), lambda: act(session, actor)):
                try:
                    step()
                except AWAY:
                    assert fault.struck
                if fault.struck:
                    return
    assert fault.at == 0 or fault.struck


def heal(session, worker, actor):
    for _ in range(9):
        Session.objects.filter(state="running").update(claimed_at=clock.db_now() - timedelta(seconds=60))
        sweep.orphans(worker)
        sweep.unmatched()
        runner.work(worker)
        if Session.objects.get(pk=session.pk).state == "completed":
            return
        act(session, actor)


@pytest.mark.parametrize("kind", ["statement", "commit"])
def test_at_any(start, worker, alice_actor, monkeypatch, kind):
    counting = Fault(kind, 0)
    lap(start([*SCRIPT, {"say": "end"}]), worker, alice_actor, counting, monkeypatch)
    assert counting.count > 8
    for at in range(1, counting.count + 1, EVERY[kind]):
        toolset.RAN.clear()
        worker.beat()
        session = start([*SCRIPT, {"say": "end"}])
        lap(session, worker, alice_actor, Fault(kind, at), monkeypatch)
        connection.close()
        heal(session, worker, alice_actor)
        row = Session.objects.get(pk=session.pk)
        assert (row.state, row.attempts) == ("completed", 0), (kind, at, row.attention)
        assert [name for name, _ in toolset.RAN].count("once") <= 1
        calls = Call.objects.filter(session=session)
        assert len(calls) == 5 and all(c.result is not None for c in calls)
        assert not session.yields.filter(taken_at=None).exists()
        assert not ParkedState.objects.filter(session=session).exists()
        journal(session)
