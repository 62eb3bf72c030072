"""What the server keeps for one open page, found by an id: the running answer and the traces of the conversation.

The page's own store of past text has the same id, and lives in the service until the page is closed.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sssd_demo.answer import Answer
from sssd_demo.trace import Trace

if TYPE_CHECKING:
    from sssd_demo.ui.chat_turn import Page, Turn

KEPT_TRACES = 20  # of the latest answers in one conversation


@dataclass
class Session:
    """One open page. Only handlers of that page touch it."""

    id: str
    conversation: str
    turn: Turn | None = None  # the last one, to go back from
    running: Answer | None = None
    left: bool = False  # nobody looks at it any more
    wanted: bool = False  # a message was sent and its answer was not yet stopped
    traces: dict[int, Trace] = field(default_factory=dict)  # by position of the answer in the conversation
    ending: Page | None = None  # of the last answer, for the parts of the page that do not change while it streams
    shown: Trace | None = None  # the one whose tokens are on show

    def keep(self, position: int, trace: Trace) -> None:
        """Remember the trace of the answer at `position`; what came after it is no longer the conversation."""
        self.traces = {at: kept for at, kept in self.traces.items() if at < position}
        self.traces[position] = self.shown = trace
        for oldest in sorted(self.traces)[:-KEPT_TRACES]:
            del self.traces[oldest]

    def stop(self) -> None:
        """End the running answer after the round it is in, or the wait for one."""
        self.wanted = False
        if self.running is not None:
            self.running.cancel()


class Sessions:
    """All open pages. Thread-safe.

    `forget` is told of conversations that have ended, `drop_store` of pages whose store is no longer wanted.
    """

    def __init__(self, forget: Callable[[str], None], drop_store: Callable[[str], None]) -> None:
        self._sessions: dict[str, Session] = {}
        self._lock = threading.Lock()
        self._forget = forget
        self._drop_store = drop_store

    def get(self, id: str) -> Session:
        """The session with this id, made when it is asked for first."""
        with self._lock:
            if id not in self._sessions:
                self._sessions[id] = Session(id, conversation=new_id())
            return self._sessions[id]

    def leave(self, id: str) -> None:
        """The page was closed: keep nothing of it."""
        self.end_conversation(id)
        self._drop_store(id)

    def end_conversation(self, id: str) -> None:
        """Stop the page's answer and keep nothing of its conversation but what its store learnt."""
        with self._lock:
            session = self._sessions.pop(id, None)
        if session is not None:
            session.left = True
            session.stop()
            self._forget(session.conversation)

    def running(self) -> int:
        """How many answers are being written."""
        with self._lock:
            return sum(session.running is not None for session in self._sessions.values())

    def traces(self) -> list[Trace]:
        """Of the answers that are being written, as far as they have come."""
        with self._lock:
            answers = [session.running for session in self._sessions.values()]
        return [answer.trace for answer in answers if answer is not None]


def new_id() -> str:
    """An id that nobody can guess."""
    return secrets.token_urlsafe(12)
