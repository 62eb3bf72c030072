"""A comparison while it runs: lanes answer alone, one after another, through the same service as everybody."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

from sssd_demo.answer import Answer
from sssd_demo.bench.contamination import SHARED_RUN, holds_answer, holds_question
from sssd_demo.bench.runner import WARM_UP
from sssd_demo.compare.comparison import Comparison, Run
from sssd_demo.compare.costs import costs
from sssd_demo.compare.plan import Plan, Step
from sssd_demo.errors import UserError
from sssd_demo.service import Service
from sssd_demo.trace import Trace

logger = logging.getLogger(__name__)

WARM_UP_TOKENS = 16
QUIET_WITHIN = 20.0  # seconds that a comparison waits in all for others' answers to end, before it runs beside them
LOOK_EVERY = 0.1  # seconds between looks at whether others have ended

Phase = Literal["queued", "warming", "waiting", "running", "ended", "stopped", "failed"]
OVER: frozenset[Phase] = frozenset({"ended", "stopped", "failed"})


@dataclass(frozen=True)
class Progress:
    """A comparison as it is now, for drawing."""

    phase: Phase
    reason: str  # why it failed; empty otherwise
    step: Step | None  # the answer being written or waited for, or written last
    trace: Trace | None  # of the answer being written
    comparison: Comparison


def check(service: Service, plan: Plan) -> None:
    """Raises `UserError` with the service's own sentence for whatever in `plan` would be refused, without waiting.

    Also for a datastore that shares `SHARED_RUN` tokens in a row with a question: it may hold the answer too.
    """
    first = _messages(plan, 0)
    for lane in plan.lanes:
        service.ask(first, lane.settings(plan.common)).cancel()
    if plan.common.datastore is not None:
        count = service.stores.open(plan.common.datastore).count
        for question in plan.questions:
            if holds_question(service.text.encode(question.turns[0]), count):
                which = f"question {question.id}" if len(plan.questions) > 1 else "this question"
                raise UserError(
                    f"The datastore {plan.common.datastore} holds {SHARED_RUN} tokens in a row of {which}, so a"
                    " comparison with it would mean nothing; please use another datastore, or none."
                )


class Comparing:
    """Runs `plan` once. One thread calls `run`; any may look at it, or stop it.

    No session and no conversation is named, so nothing that a lane writes reaches a store or a cache of another.
    """

    def __init__(self, service: Service, plan: Plan, quiet_within: float = QUIET_WITHIN) -> None:
        """Raises `UserError` for a datastore that cannot be used."""
        self._held: Service | None = service
        self._plan = plan
        self._patience = quiet_within
        self._stopped = threading.Event()
        self._changed = threading.Condition()
        self._phase: Phase = "queued"
        self._reason = ""
        self._step: Step | None = None
        self._answer: Answer | None = None
        model = service.model
        self._comparison = Comparison(
            plan=plan,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            device=model.device_name,
            dtype=model.dtype,
            preset=model.name,
            costs=costs(service, plan),
        )

    def run(self) -> None:
        """Let all lanes answer; returns when it is over. What goes wrong is told by `progress`."""
        try:
            self._warm_up()
            for step in self._plan.steps():
                if self._stopped.is_set():
                    break
                if step.question not in self._comparison.skipped:
                    self._take(step)
            if not self._stopped.is_set() and not self._comparison.runs:
                raise UserError(next(iter(self._comparison.skipped.values())))
            self._enter("stopped" if self._stopped.is_set() else "ended")
        except UserError as error:
            self._fail(str(error))
        except Exception:
            logger.exception("a comparison failed")
            self._fail("The comparison could not go on because of an internal error; the log has the details.")
        finally:
            self._held = None  # what was measured is kept for long, and must not keep a model that was changed

    def stop(self) -> None:
        """End after the round now running; returns at once. What is finished by then is kept."""
        with self._changed:
            self._stopped.set()
            if self._answer is not None:
                self._answer.cancel()
            if self._phase == "queued":
                self._phase = "stopped"
            self._changed.notify_all()

    @property
    def over(self) -> bool:
        return self._phase in OVER

    def progress(self) -> Progress:
        with self._changed:
            trace = self._answer.trace if self._answer is not None and self._phase == "running" else None
            return Progress(self._phase, self._reason, self._step, trace, self._comparison)

    def watch(self, every: float) -> Iterator[Progress]:
        """As it changes, looked at every so many seconds, until it is over."""
        while (progress := self.progress()).phase not in OVER:
            yield progress
            with self._changed:
                self._changed.wait(every)
        yield progress

    @property
    def _service(self) -> Service:
        if self._held is None:
            raise RuntimeError("the comparison is over")
        return self._held

    def _enter(self, phase: Phase, step: Step | None = None) -> None:
        with self._changed:
            self._phase = phase
            self._step = step or self._step
            self._changed.notify_all()

    def _fail(self, reason: str) -> None:
        self._reason = reason
        self._enter("failed")

    def _warm_up(self) -> None:
        """Each lane answers something else first, outside the clock: first times are not what is to be compared."""
        short = replace(self._plan.common, max_new_tokens=min(WARM_UP_TOKENS, self._plan.common.max_new_tokens))
        for number, lane in enumerate(self._plan.lanes):
            if self._stopped.is_set():
                return
            self._enter("warming", Step(0, 0, number))
            self._follow(self._service.ask(WARM_UP, lane.settings(short)), lambda: None)

    def _take(self, step: Step) -> None:
        """One answer. A question that a lane refuses is left out for all lanes, unless it is the only one."""
        self._wait_for_quiet(step)
        if self._stopped.is_set():
            return
        self._enter("running", step)
        try:
            run = self._measured(step)
        except UserError as error:
            if len(self._plan.questions) == 1:
                raise
            kept = tuple(run for run in self._comparison.runs if run.step.question != step.question)
            self._keep(runs=kept, skipped={**self._comparison.skipped, step.question: str(error)})
            return
        if run is None:
            return
        self._keep(runs=(*self._comparison.runs, run))
        if step.lane == 0:
            self._service.note_baseline(run.trace)
            self._note_known(step.question, run.trace)

    def _wait_for_quiet(self, step: Step) -> None:
        while self._service.engine.busy and self._patience > 0 and not self._stopped.is_set():
            self._enter("waiting", step)
            self._stopped.wait(LOOK_EVERY)
            self._patience -= LOOK_EVERY

    def _measured(self, step: Step) -> Run | None:
        """The step's answer; None if it was stopped. Raises `UserError` if it cannot be had."""
        engine = self._service.engine
        others = engine.busy
        settings = self._plan.lanes[step.lane].settings(self._plan.common)
        answer = self._service.ask(_messages(self._plan, step.question), settings)

        def look() -> None:
            nonlocal others
            others = max(others, engine.busy - 1)

        self._follow(answer, look)
        trace = answer.trace
        if trace.finish_reason == "cancelled":
            if self._stopped.is_set():
                return None
            raise UserError("The model was changed or closed while the comparison ran.")
        shared = others > 0 or any(round_.batch_size > 1 for round_ in trace.rounds)
        return Run(step, trace, answer.finished.prefill_forwards, shared)

    def _follow(self, answer: Answer, look: Callable[[], None]) -> None:
        with self._changed:
            self._answer = answer
            if self._stopped.is_set():
                answer.cancel()
        try:
            for _ in answer:
                look()
        finally:
            answer.cancel()
            self._answer = None

    def _keep(self, **changes: object) -> None:
        with self._changed:
            self._comparison = replace(self._comparison, **changes)  # type: ignore[arg-type]
            self._changed.notify_all()

    def _note_known(self, question: int, trace: Trace) -> None:
        """A store that holds the answer makes lanes that draw from it look better than they would on new text."""
        store = self._plan.common.datastore
        if store is None or question in self._comparison.known:
            return
        text = [token for token in trace.token_ids() if token not in self._service.text.end_tokens]
        if holds_answer(text, self._service.stores.open(store).count):
            self._keep(known=self._comparison.known | {question})


def _messages(plan: Plan, question: int) -> list[dict[str, str]]:
    return [{"role": "user", "content": plan.questions[question].turns[0]}]
