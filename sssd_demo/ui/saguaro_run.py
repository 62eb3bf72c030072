"""One run of the Saguaro tab: the same question drafted in turn and prepared ahead, alone on the machine.

Or, as a sweep, prepared ahead once for each constant C of Saguaro sampling.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

from sssd_demo.answer import Answer
from sssd_demo.bench.runner import WARM_UP
from sssd_demo.compare.comparing import LOOK_EVERY, QUIET_WITHIN
from sssd_demo.errors import UserError
from sssd_demo.metrics import summarise
from sssd_demo.roofline import LENGTHS, Point, TimeForward
from sssd_demo.saguaro.alone_times import BATCHES, CONTEXTS, REPEATS, measure
from sssd_demo.saguaro.summary import summarise_cache
from sssd_demo.service import Service, Settings
from sssd_demo.speculators.needs import WITH_DRAFTER
from sssd_demo.trace import Trace
from sssd_demo.ui.measuring import queued
from sssd_demo.ui.saguaro_alone import AloneKept
from sssd_demo.ui.saguaro_found import Found, SweepPoint
from sssd_demo.ui.words import WORDS

logger = logging.getLogger(__name__)

WARM_UP_TOKENS = 12  # of an answer that does not count
SWEPT = (1.0, 0.75, 0.5, 0.25, 0.0)  # constants C

Phase = Literal["queued", "running", "ended", "stopped", "failed"]
OVER: frozenset[Phase] = frozenset({"ended", "stopped", "failed"})

Look = Callable[[Trace], None]  # at an answer as it grows


def _no_look(trace: Trace) -> None:
    """Nobody looks."""


class _Stopped(Exception):
    """The run was stopped; what is finished is kept."""


@dataclass(frozen=True)
class Asked:
    """One question, and the settings of both ways to draft."""

    question: str
    in_turn: Settings
    ahead: Settings

    @property
    def messages(self) -> list[dict[str, str]]:
        return [{"role": "user", "content": self.question}]


@dataclass(frozen=True)
class RunState:
    """A run as it is now, for drawing."""

    phase: Phase
    now: str  # what is happening, in a sentence
    share: float  # of the work that is done, about
    found: Found
    sweep: tuple[SweepPoint, ...] = ()


class SaguaroRun:
    """Runs what was `asked` once. One thread calls `run`; any may look at it, or stop it."""

    def __init__(
        self,
        service: Service,
        asked: Asked,
        alone: AloneKept,
        *,
        sweep: bool = False,
        quiet_within: float = QUIET_WITHIN,
    ) -> None:
        self.asked, self.sweep = asked, sweep
        self._held: Service | None = service
        self._alone, self._patience = alone, quiet_within
        self._stopping = threading.Event()
        self._changed = threading.Condition()
        self._answer: Answer | None = None
        model, baseline = service.model, service.baseline()
        self._state = RunState(
            "queued",
            queued(ahead=0),
            0.0,
            Found(
                created=datetime.now(UTC).isoformat(timespec="seconds"),
                device=model.device_name,
                dtype=model.dtype,
                preset=model.name,
                cores=service.threads,
                alone=alone.known(service),
                plain_speed=baseline.tokens_per_second if baseline else None,
            ),
        )

    @property
    def over(self) -> bool:
        return self._state.phase in OVER

    def state(self) -> RunState:
        with self._changed:
            return self._state

    def watch(self, every: float) -> Iterator[RunState]:
        """As it changes, looked at every so many seconds, until it is over."""
        while (state := self.state()).phase not in OVER:
            yield state
            with self._changed:
                self._changed.wait(every)
        yield state

    def stop(self) -> None:
        """End after the round now running; returns at once."""
        with self._changed:
            self._stopping.set()
            if self._answer is not None:
                self._answer.cancel()
            if self._state.phase == "queued":
                self._tell(phase="stopped", now=WORDS["sag.now.stopped"])

    def run(self) -> None:
        """Returns when it is over. What goes wrong is told by `state`."""
        try:
            self._sweep() if self.sweep else self._both()
        except _Stopped:
            self._tell(phase="stopped", now=WORDS["sag.now.stopped"])
        except UserError as error:
            self._fail(str(error))
        except Exception:
            logger.exception("a Saguaro run failed")
            self._fail(WORDS["sag.now.fault"])
        else:
            self._tell(phase="ended", now=self._last_words(), share=1.0)
        finally:
            self._held = None  # what was measured is kept, and must not keep a model that was changed

    @property
    def _service(self) -> Service:
        if self._held is None:
            raise RuntimeError("the run is over")
        return self._held

    def _both(self) -> None:
        self._warm_up(self.asked.in_turn, 0.0)
        self._warm_up(self.asked.ahead, 0.1)
        if self._state.found.alone is None:
            self._measure_alone()
        self._answer_to("in_turn", self.asked.in_turn, 0.4)
        self._answer_to("ahead", self.asked.ahead, 0.7)

    def _sweep(self) -> None:
        self._warm_up(self.asked.ahead, 0.0)
        for number, c in enumerate(SWEPT):
            self._wait_for_quiet()
            saguaro = replace(self.asked.ahead.saguaro, bend="c", c=c)
            settings = replace(self.asked.ahead, saguaro=saguaro)
            share = 0.1 + 0.9 * number / len(SWEPT)
            trace = self._follow(settings, "sag.sweep.now", share, 0.9 / len(SWEPT), c=c)
            point = _swept(c, trace)
            if point is not None:
                self._tell(sweep=(*self._state.sweep, point))

    def _warm_up(self, settings: Settings, share: float) -> None:
        """First times are not what is to be told; and a drafter that is not there yet has to start."""
        drafter = self._service.drafter if settings.method in WITH_DRAFTER else None
        starts = drafter is not None and drafter.current is None
        words = "sag.now.starting" if starts else "sag.now.warming"
        self._tell(phase="running", now=WORDS[words].format(method=settings.method), share=share)
        short = replace(settings, max_new_tokens=min(WARM_UP_TOKENS, settings.max_new_tokens))
        self._ask(WARM_UP, short)

    def _measure_alone(self) -> None:
        service, done = self._service, 0
        steps = 2 * len(BATCHES) * len(CONTEXTS) * len(LENGTHS) * REPEATS

        def report(_point: Point) -> None:
            nonlocal done
            if self._stopping.is_set():
                raise _Stopped
            done = min(done + 1, steps)
            now = WORDS["sag.now.timing"].format(n=done, all=steps)
            self._tell(now=now, share=0.1 + 0.3 * done / steps)

        contexts = tuple(context for context in CONTEXTS if context < service.engine.context_length)
        time_target: TimeForward = service.time_forward
        times = measure(time_target, service.time_draft, report=report, contexts=contexts)
        self._alone.keep(service, times)
        self._tell(found=replace(self._state.found, alone=times))

    def _answer_to(self, name: Literal["in_turn", "ahead"], settings: Settings, share: float) -> None:
        self._wait_for_quiet()
        others = self._service.engine.busy

        def look(trace: Trace) -> None:
            nonlocal others
            others = max(others, self._service.engine.busy - 1)
            self._tell(found=replace(self._state.found, **{name: trace}))  # type: ignore[arg-type]

        trace = self._follow(settings, f"sag.now.{name}", share, 0.3, look)
        shared = others > 0 or any(round_.batch_size > 1 for round_ in trace.rounds)
        found = replace(self._state.found, shared=self._state.found.shared or shared)
        self._tell(found=replace(found, **{name: trace}))  # type: ignore[arg-type]

    def _follow(
        self, settings: Settings, words: str, share: float, worth: float, look: Look = _no_look, **more: float
    ) -> Trace:
        def told(trace: Trace) -> None:
            tokens = sum(len(round_.committed) for round_ in trace.rounds)
            now = WORDS[words].format(method=settings.method, tokens=tokens, **more)
            self._tell(now=now, share=share + worth * tokens / settings.max_new_tokens)
            look(trace)

        return self._ask(self.asked.messages, settings, told)

    def _ask(self, messages: list[dict[str, str]], settings: Settings, look: Look = _no_look) -> Trace:
        """One whole answer. Raises `UserError` if it cannot be had."""
        answer = self._service.ask(messages, settings)
        with self._changed:
            self._answer = answer
            if self._stopping.is_set():
                answer.cancel()
        try:
            for _ in answer:
                look(answer.trace)
        finally:
            answer.cancel()
            self._answer = None
        if answer.trace.finish_reason == "cancelled":
            if self._stopping.is_set():
                raise _Stopped
            raise UserError(WORDS["sag.now.changed"])
        return answer.trace

    def _wait_for_quiet(self) -> None:
        while self._service.engine.busy and self._patience > 0:
            self._tell(phase="running", now=WORDS["measure.quiet"])
            if self._stopping.wait(LOOK_EVERY):
                raise _Stopped
            self._patience -= LOOK_EVERY

    def _last_words(self) -> str:
        found = self._state.found
        died = found.cache is not None and "no drafter" in found.cache.reasons
        parts = [WORDS["sag.now.ended"], WORDS["sag.now.dead"] if died else ""]
        return " ".join(filter(None, [*parts, WORDS["sag.now.shared"] if found.shared else ""]))

    def _fail(self, reason: str) -> None:
        self._tell(phase="failed", now=WORDS["sag.now.failed"].format(reason=reason))

    def _tell(self, **changes: object) -> None:
        with self._changed:
            self._state = replace(self._state, **changes)  # type: ignore[arg-type]
            self._changed.notify_all()


def check(service: Service, asked: Asked) -> None:
    """Raises `UserError` with the service's own sentence for whatever would be refused, without waiting.

    Preparing ahead is not asked for: that would wait for its drafter, and refuses nothing more.
    """
    service.ask(asked.messages, asked.in_turn).cancel()


def _swept(c: float, trace: Trace) -> SweepPoint | None:
    cache, summary = summarise_cache([trace]), summarise(trace)
    if cache is None or summary.tokens_per_forward is None:
        return None
    tested = summary.accepted + summary.rejected
    return SweepPoint(c, cache.all.hits, cache.all.rounds, summary.accepted, tested, summary.tokens_per_forward)
