"""The rows. Who writes them: `engine/store` (sessions, calls, waits, journal), `operations` (agents, providers)."""

from sessions.models.agent import Agent, AgentVersion, Provider
from sessions.models.call import Blob, Call, LateResult
from sessions.models.event import Event
from sessions.models.journal import JournalEntry
from sessions.models.message import Message, Steer
from sessions.models.session import Frame, ParkedState, Session, SessionText
from sessions.models.worker import Worker
from sessions.models.yield_ import Yield

__all__ = [
    "Agent",
    "AgentVersion",
    "Blob",
    "Call",
    "Event",
    "Frame",
    "JournalEntry",
    "LateResult",
    "Message",
    "ParkedState",
    "Provider",
    "Session",
    "SessionText",
    "Steer",
    "Worker",
    "Yield",
]
