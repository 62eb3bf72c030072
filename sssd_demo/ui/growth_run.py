"""One cold start, live: conversations one after another, each drafted with what the earlier ones left in a store.

A thread asks the service for one answer at a time and notes what it came to. It owns its store, which is in memory
only, belongs to nobody's chat, and is kept until the run is stopped, so that it can be looked into.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from sssd_demo.answer import Answer
from sssd_demo.errors import UserError
from sssd_demo.service import Service, Settings
from sssd_demo.sssd.growth import Conversation, Snapshot, measured
from sssd_demo.sssd.live_store import conversation_document
from sssd_demo.sssd.merging import Limits
from sssd_demo.sssd.store_state import StoreState
from sssd_demo.sssd.sub_index import SubIndex
from sssd_demo.trace import Round, Trace
from sssd_demo.ui.words import WORDS

logger = logging.getLogger(__name__)

S_Q = 8  # fixed, so that every conversation is drafted alike and can be drafted again alike
SETTLED_WITHIN = 2.0  # seconds that the next conversation waits for the last one to be searchable and merged

Phase = Literal["running", "pausing", "paused", "ended", "failed"]
OVER: frozenset[Phase] = frozenset({"ended", "failed"})


@dataclass(frozen=True)
class RunState:
    """A run as it is now, for drawing."""

    phase: Phase
    reason: str  # why it failed; empty otherwise
    planned: int  # conversations
    question: str  # the one being answered, or answered last
    waiting: bool  # for a free place on the engine
    tokens: int  # of the answer being written
    conversations: tuple[Conversation, ...]  # finished, oldest first
    added: int  # tokens given to the store so far
    limits: Limits
    store: StoreState


class GrowthRun:
    """Asks `questions` one by one, greedily, at most `max_new_tokens` each. Started at once; thread-safe."""

    def __init__(
        self, service: Service, questions: Sequence[str], *, id: str, limits: Limits, max_new_tokens: int
    ) -> None:
        """`id` names the run's store in the service; no visitor may have the same."""
        self._service = service
        self._questions = tuple(questions)
        self._id = id
        self._limits = limits
        self._settings = Settings(method="sssd", max_new_tokens=max_new_tokens, s_q=S_Q)
        self._store = service.session_store(id, limits)
        self._state = threading.Condition()
        self._phase: Phase = "running"
        self._reason = ""
        self._stopped = False
        self._question = ""
        self._answer: Answer | None = None
        self._rounds: list[Round] = []
        self._conversations: list[Conversation] = []
        self._added = 0
        self._watchers = 0
        self._thread = threading.Thread(target=self._run, name="growth-run", daemon=True)
        self._thread.start()

    def pause(self) -> None:
        """Hold after the answer that is being written."""
        self._change("running", "pausing")

    def resume(self) -> None:
        self._change("pausing", "running")
        self._change("paused", "running")

    def stop(self) -> None:
        """End now, for good, and forget the store; returns at once."""
        with self._state:
            self._stopped = True
            if self._answer is not None:
                self._answer.cancel()
            self._state.notify_all()
            over = self._phase in OVER
        if over:
            self._service.drop_session(self._id)

    def watch(self, every: float) -> Iterator[RunState]:
        """States, looked at every so many seconds, while there is something to watch and nobody else watches.

        Of a run that was stopped no more states are given: something else is on show by then.
        """
        with self._state:
            self._watchers += 1
            mine = self._watchers
        while not self._stopped and self._watchers == mine:
            state = self.state()
            yield state
            if state.phase in OVER or state.phase == "paused":
                return
            with self._state:
                self._state.wait(every)

    @property
    def sub_indices(self) -> tuple[SubIndex, ...]:
        """What the store holds now."""
        return self._store.sub_indices

    @property
    def service(self) -> Service:
        """Who answers it, and whose tokens are in its store."""
        return self._service

    def join(self, timeout: float | None = None) -> None:
        """Wait until the thread has ended."""
        self._thread.join(timeout)

    def state(self) -> RunState:
        with self._state:
            waiting = self._answer is not None and not self._rounds and self._full()
            return RunState(
                phase=self._phase,
                reason=self._reason,
                planned=len(self._questions),
                question=self._question,
                waiting=waiting,
                tokens=sum(len(round_.committed) for round_ in self._rounds),
                conversations=tuple(self._conversations),
                added=self._added,
                limits=self._limits,
                store=self._store.state(),
            )

    def _full(self) -> bool:
        return self._service.engine.busy >= self._service.engine.capacity

    def _change(self, before: Phase, after: Phase) -> None:
        with self._state:
            if self._phase == before:
                self._phase = after
                self._state.notify_all()

    def _run(self) -> None:
        phase: Phase = "ended"
        try:
            for question in self._questions:
                if not self._may_go_on():
                    break
                self._hold(question)
        except UserError as error:
            phase, self._reason = "failed", str(error)
        except Exception:
            logger.exception("a growth run failed")
            phase, self._reason = "failed", WORDS["refuse.fault"]
        finally:
            self._store.settle(SETTLED_WITHIN)
            with self._state:
                self._phase = phase
                stopped = self._stopped
                self._state.notify_all()
            if stopped:
                self._service.drop_session(self._id)

    def _may_go_on(self) -> bool:
        """Wait while paused; false once stopped."""
        with self._state:
            if self._phase == "pausing":
                self._phase = "paused"
            self._state.wait_for(lambda: self._stopped or self._phase == "running")
            return not self._stopped

    def _hold(self, question: str) -> None:
        """One conversation. Raises `UserError` if its answer cannot be had."""
        self._store.settle(SETTLED_WITHIN)
        # Nobody else adds to the store, so it stays like this until the answer has ended.
        before = Snapshot(self._store.sub_indices, self._added, self._store.state().dropped, self._store.recycled())
        asked = [{"role": "user", "content": question}]
        answer = self._service.ask(asked, self._settings, session=self._id, keep_top=True)
        with self._state:
            self._answer, self._question, self._rounds = answer, question, []
            if self._stopped:
                answer.cancel()
        try:
            for round_ in answer:
                self._rounds.append(round_)
        finally:
            self._answer = None
        if not self._stopped:
            self._note(answer.trace, before)

    def _note(self, trace: Trace, before: Snapshot) -> None:
        if trace.finish_reason == "cancelled":
            raise UserError(WORDS["store.run.engine_gone"])
        conversation = measured(trace, before, S_Q)
        with self._state:
            self._conversations.append(conversation)
            self._added += len(conversation_document(trace.prompt, trace.token_ids()))
