"""What a person does to a session and to what it waits for. Each is a POST that names the session, or the wait.

Invariant: nobody's text is lost. A form with a mistake comes back with what was entered (422); an answer that lost
comes back to be copied (409).
"""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from sessions.access import access_session
from sessions.forms.answers import AnswerForm, NotReady
from sessions.models import Session
from sessions.operations import answers, sessions
from sessions.present.cards import Entered
from sessions.queries.page import wait_of
from sessions.views.replies import done, mistaken, refused, too_late
from workspaces.actors import Actor
from workspaces.doors import console_view
from workspaces.errors import Conflict, Invalid
from workspaces.models import Workspace
from workspaces.roles import Need

Act = Callable[[Actor, Session, HttpRequest], object]


@console_view(need=Need.OPERATE, only_post=True)
def answer(request: HttpRequest, workspace: Workspace, actor: Actor, session_id: UUID, yield_id: UUID) -> HttpResponse:
    """Answer the question of the wait that the form was made for, and no other."""
    session = access_session(actor, session_id, Need.OPERATE, workspace)
    wait = wait_of(session, yield_id)
    form = AnswerForm(wait, request.POST)
    try:
        answers.answer(actor, session, _entered(form, wait), wait=str(yield_id))
    except NotReady:
        return mistaken(request, workspace, actor, session_id, yield_id, Entered(form))
    except Invalid as error:
        form.refuse(error)
        return mistaken(request, workspace, actor, session_id, yield_id, Entered(form))
    except Conflict as error:
        return too_late(request, workspace, actor, session_id, yield_id, error, form.typed())
    return done(request, workspace, actor, session_id, "The answer is sent.")


def _entered(form: AnswerForm, wait: Mapping[str, Any]) -> Any:
    """The answer; of a wait that is over also what was only half entered, which is kept as a note."""
    try:
        return form.read()
    except NotReady:
        if wait["outcome"] is None:
            raise
        return form.typed()


@console_view(need=Need.OPERATE, only_post=True)
def cancel_yield(
    request: HttpRequest, workspace: Workspace, actor: Actor, session_id: UUID, yield_id: UUID
) -> HttpResponse:
    """Skip a question: its agent goes on without an answer."""
    session = access_session(actor, session_id, Need.OPERATE, workspace)
    reason = request.POST.get("reason", "").replace("\r\n", "\n")
    try:
        answers.cancel_wait(actor, session, str(yield_id), reason)
    except (Conflict, Invalid) as error:
        return refused(request, workspace, actor, session_id, error)
    return done(request, workspace, actor, session_id, "The question is skipped.")


@console_view(need=Need.OPERATE, only_post=True)
def settle(request: HttpRequest, workspace: Workspace, actor: Actor, session_id: UUID, yield_id: UUID) -> HttpResponse:
    """Say how a call ended whose worker died."""
    session = access_session(actor, session_id, Need.OPERATE, workspace)
    values = {name: request.POST.get(name, "").replace("\r\n", "\n") for name in ("outcome", "result", "reason")}
    try:
        if not values["outcome"]:
            raise Invalid("Say what you found: choose one of the three.")
        answers.settle_unknown(
            actor, session, str(yield_id), values["outcome"], values["result"] or None, values["reason"]
        )
    except Invalid as error:
        entered = Entered(values=values, errors=[error.message])
        return mistaken(request, workspace, actor, session_id, yield_id, entered)
    except Conflict as error:
        text = "\n\n".join(value for value in (values["result"], values["reason"]) if value.strip())
        return too_late(request, workspace, actor, session_id, yield_id, error, text)
    return done(request, workspace, actor, session_id, "The call is settled.")


def _act(said: str) -> Callable[[Act], Any]:
    """A view that does one thing to a session."""

    def make(act: Act) -> Any:
        @console_view(need=Need.OPERATE, only_post=True)
        def view(request: HttpRequest, workspace: Workspace, actor: Actor, session_id: UUID) -> HttpResponse:
            session = access_session(actor, session_id, Need.OPERATE, workspace)
            try:
                act(actor, session, request)
            except (Conflict, Invalid) as error:
                return refused(request, workspace, actor, session_id, error)
            return done(request, workspace, actor, session_id, said)

        view.__name__, view.__doc__ = act.__name__, act.__doc__
        return view

    return make


@_act("The session is cancelled.")
def cancel(actor: Actor, session: Session, request: HttpRequest) -> None:
    """End it at once."""
    sessions.cancel_session(actor, session, request.POST.get("reason", ""))


@_act("It is paused, or will be at its next safe point.")
def pause(actor: Actor, session: Session, request: HttpRequest) -> None:
    """Pause it now, or at the worker's next safe point."""
    sessions.pause_session(actor, session)


@_act("It goes on.")
def resume(actor: Actor, session: Session, request: HttpRequest) -> None:
    """End a pause."""
    sessions.resume_session(actor, session)


@_act("It goes on where it stopped.")
def retry(actor: Actor, session: Session, request: HttpRequest) -> None:
    """Let a failed, cancelled or set-aside session go on in place."""
    sessions.retry_session(actor, session)


@_act("The message is queued for the next turn.")
def steer(actor: Actor, session: Session, request: HttpRequest) -> None:
    """Queue a message for the next turn."""
    sessions.steer_session(actor, session, request.POST.get("text", "").replace("\r\n", "\n"))
