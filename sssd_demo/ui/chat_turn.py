"""What happens in the chat between a click and the page's next state. No layout here, and no model: a turn is
submitted to the service and its rounds are followed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from sssd_demo.answer import Answer
from sssd_demo.errors import UserError
from sssd_demo.service import Service, Settings
from sssd_demo.trace import Trace
from sssd_demo.ui.answer_payload import AnswerPayload
from sssd_demo.ui.conversation import History, entry, messages, text_of
from sssd_demo.ui.figures import figures, yardstick
from sssd_demo.ui.pace import Pace
from sssd_demo.ui.service_host import ServiceHost
from sssd_demo.ui.sessions import Session
from sssd_demo.ui.words import WORDS

logger = logging.getLogger(__name__)

FIGURES_EVERY = 0.4  # seconds; numbers that change faster cannot be read

Pages = Generator["Page", None, None]
KEEP = object()  # this part of the page stays as it is


@dataclass(frozen=True)
class Page:
    """The parts of the chat tab that a turn changes."""

    history: Any = KEEP
    answer: Any = KEEP
    figures: Any = KEEP
    message: Any = KEEP
    notice: Any = ""
    running: bool = False
    can_undo: bool = False


@dataclass
class Turn:
    """What a turn began from, to go back there if it is refused, stopped in the queue or undone."""

    history: History
    message: str
    traces: dict[int, Trace] = field(default_factory=dict)
    removed: int = 0  # messages that the turn takes away
    followed: bool = False  # its answer was asked for


def begin(host: ServiceHost, session: Session, history: History, message: str) -> Page:
    """A message was sent. Refused, it stays in its box."""
    refusal = _refusal(host, session) or ("" if message.strip() else WORDS["refuse.empty"])
    if refusal:
        return Page(notice=refusal, running=session.wanted)
    session.turn = Turn(history, message, dict(session.traces))
    session.wanted = True
    return Page([*history, entry("user", message)], message="", notice=_waiting(host), running=True)


def begin_again(host: ServiceHost, session: Session, history: History, position: int, text: str | None) -> Page:
    """The user's message at `position` is to be answered anew, as `text` if it was edited.

    What came after it was said to another answer, so it goes; the notice says so and it can be undone.
    """
    refusal = _refusal(host, session)
    if not refusal and text is not None and not text.strip():
        refusal = WORDS["refuse.empty"]
    if refusal:
        return Page(history=history, notice=refusal, running=session.wanted)
    removed = len(history) - position - 2  # the message and its answer are not counted
    session.turn = Turn(history, "", dict(session.traces), max(0, removed))
    session.wanted = True
    asked = text_of(history[position]) if text is None else text
    return Page([*history[:position], entry("user", asked)], notice=_waiting(host), running=True)


def follow(
    host: ServiceHost, session: Session, history: History, settings: Callable[[], Settings], remember: bool = False
) -> Pages:
    """The answer to the last message of `history`, page by page, until it ends, is stopped or fails.

    With `remember`, it draws from the page's own store and is added to it.
    """
    service, turn = host.service, session.turn
    if not session.wanted or turn is None or turn.followed or service is None:
        return  # refused, stopped, or refused because another answer is being followed
    turn.followed = True
    try:
        answer = service.ask(
            messages(history),
            settings(),
            conversation=session.conversation,
            session=session.id if remember else None,
        )
        session.running = answer
        for page in _stream(service, session, answer, history, turn):
            if session.left:  # a new chat was begun meanwhile: its page is not to be written over
                return
            if not page.running:
                session.ending = page
            yield page
    except UserError as error:
        session.ending = _withdrawn(session, turn, str(error))
        yield session.ending
    except Exception:
        logger.exception("an answer failed")
        session.ending = _withdrawn(session, turn, WORDS["refuse.fault"])
        yield session.ending
    finally:  # also when the page was closed
        if session.running is not None:
            session.running.cancel()
        session.running = None
        session.wanted = False


def stop(session: Session) -> Page | None:
    """Stop was pressed. None: the answer was begun, and its own last page follows or is there already."""
    session.stop()
    if session.turn is None or session.turn.followed:
        return None
    return _withdrawn(session, session.turn, WORDS["notice.stopped_waiting"])


def undo(session: Session) -> Page:
    """Back to the conversation before the last turn."""
    turn, session.turn = session.turn, None
    if turn is None or session.running is not None:
        return Page(notice="")
    session.traces, session.shown = turn.traces, None
    return Page(history=turn.history, answer=None, figures=None)


def look_back(session: Session, position: int, service: Service | None) -> Page:
    """Tokens and figures of an earlier answer of this conversation."""
    trace = session.traces.get(position)
    if trace is None:
        return Page(notice=WORDS["notice.trace_gone"])
    session.shown = trace
    return Page(answer=AnswerPayload(trace).update(trace), figures=figures(trace, yardstick(service)))


def replayed(session: Session, trace: Trace, name: str) -> Page:
    """A recorded answer in place of a live one; the conversation stays."""
    session.shown = trace
    payload = AnswerPayload(trace, recorded=True)
    told = WORDS["notice.replay"].format(name=name, device=trace.device, date=payload.date)
    return Page(answer=payload.update(trace), figures=figures(trace, None, recorded=True), notice=told)


def _refusal(host: ServiceHost, session: Session) -> str:
    if host.service is None:
        return WORDS["refuse.loading"] if host.loading.state == "loading" else host.loading.stage
    return WORDS["refuse.busy"] if session.wanted else ""


def _waiting(host: ServiceHost) -> str:
    """What to say until the answer begins; nothing where it begins at once."""
    engine = host.service.engine if host.service else None
    return WORDS["notice.waiting"] if engine and engine.busy >= engine.capacity else ""


def _stream(service: Service, session: Session, answer: Answer, history: History, turn: Turn) -> Iterator[Page]:
    payload = AnswerPayload(answer.trace, service.model.text.end_tokens)
    position = len(history)
    pace, calm = Pace(), Pace(FIGURES_EVERY)
    shown = figures(answer.trace, None)
    notice: Any = ""  # at first, so that "waiting" goes

    def page(trace: Trace, running: bool) -> Page:
        nonlocal shown
        drawn = payload.update(trace)
        if not running or calm.due():
            with calm.update():
                shown = figures(trace, yardstick(service))
        return Page(
            history=[*history, entry("assistant", payload.text)],
            answer=drawn,
            figures=shown,
            notice=notice if running else _removed(turn),
            running=running,
            can_undo=not running and turn.removed > 0,
        )

    try:
        for _ in answer:
            if not session.wanted:
                answer.cancel()
            if pace.due():
                with pace.update():
                    yield page(answer.trace, running=True)
                notice = KEEP
    except UserError as error:
        if not answer.trace.rounds:
            raise
        session.keep(position, answer.trace)
        yield replace(page(answer.trace, running=False), notice=str(error))
        return
    session.keep(position, answer.trace)
    service.note_baseline(answer.trace)
    yield page(answer.trace, running=False)


def _removed(turn: Turn) -> str:
    return WORDS["notice.removed"].format(n=turn.removed) if turn.removed else ""


def _withdrawn(session: Session, turn: Turn, notice: str) -> Page:
    """The page as it was before the turn, its message back in the box."""
    session.wanted = False
    session.turn = None
    return Page(history=turn.history, message=turn.message or KEEP, notice=notice)
