"""The console's addresses of this room. Each view wears `console_view`: none is public."""

from django.urls import path

from sessions.views import acts, agents, providers, sessions

app_name = "sessions"

ROOM = "w/<slug:slug>/sessions/"
ONE = ROOM + "<uuid:session_id>/"
WAIT = ONE + "yields/<uuid:yield_id>/"

urlpatterns = [
    path(ROOM, sessions.listing, name="list"),
    path(ROOM + "start/", sessions.start, name="start"),
    path(ONE, sessions.detail, name="detail"),
    path(ONE + "live/", sessions.live, name="live"),
    path(ONE + "calls/<uuid:call_id>/result/", sessions.result, name="result"),
    path(ONE + "cancel/", acts.cancel, name="cancel"),
    path(ONE + "pause/", acts.pause, name="pause"),
    path(ONE + "resume/", acts.resume, name="resume"),
    path(ONE + "retry/", acts.retry, name="retry"),
    path(ONE + "steer/", acts.steer, name="steer"),
    path(WAIT + "answer/", acts.answer, name="answer"),
    path(WAIT + "cancel/", acts.cancel_yield, name="cancel_yield"),
    path(WAIT + "settle/", acts.settle, name="settle"),
    path("w/<slug:slug>/agents/", agents.listing, name="agents"),
    path("w/<slug:slug>/new-agent/", agents.new, name="agent_new"),
    path("w/<slug:slug>/agents/<slug:agent_slug>/", agents.edit, name="agent_edit"),
    path("w/<slug:slug>/agents/<slug:agent_slug>/versions/", agents.versions, name="agent_versions"),
    path("w/<slug:slug>/providers/", providers.listing, name="providers"),
    path("w/<slug:slug>/new-provider/", providers.new, name="provider_new"),
    path("w/<slug:slug>/providers/<slug:provider_slug>/", providers.edit, name="provider_edit"),
]
