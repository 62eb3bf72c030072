"""One measurement in the Roofline tab, in a thread of its own: of the machine, or of batches. One at a time for all."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from sssd_demo.batch_run import Batch, batch_prompts, summed_up
from sssd_demo.errors import UserError
from sssd_demo.guess_yield import MeasuredYield, measured_yield
from sssd_demo.probing import Stopped, measure
from sssd_demo.roofline import Point
from sssd_demo.service import Settings
from sssd_demo.speculators.needs import WITH_DRAFT_MODEL
from sssd_demo.trace import Trace
from sssd_demo.ui.roofline_board import AHEAD, LONGEST, PLAIN, SAMPLED, Board
from sssd_demo.ui.words import WORDS

logger = logging.getLogger(__name__)

SAMPLE = 16  # answers that are looked at for how many guesses are right
SAMPLE_BATCH = 8
LEAST_ANSWERS = 4  # that a point rests on: small batches are run several times

Kind = Literal["measure", "run"]
Phase = Literal["running", "done", "stopped", "failed"]


@dataclass(frozen=True)
class JobState:
    """A measurement as it is now."""

    kind: Kind
    phase: Phase
    said: str
    share: float  # of the work that is done, about


class Job:
    """Started at once; thread-safe. `page` is whose it is."""

    def __init__(self, kind: Kind, page: str, board: Board, work: Callable[[Job], None]) -> None:
        self.kind, self.page, self.board = kind, page, board
        self.batch = Batch(board.service)
        self._state = threading.Condition()
        self._phase: Phase = "running"
        self._said, self._share = "", 0.0
        self._thread = threading.Thread(target=self._run, args=(work,), name=f"roofline-{kind}", daemon=True)
        self._thread.start()

    @property
    def over(self) -> bool:
        return self._phase != "running"

    def state(self) -> JobState:
        with self._state:
            return JobState(self.kind, self._phase, self._said, self._share)

    def stop(self) -> None:
        """End soon; what was measured until then stays. Returns at once."""
        self.batch.stop()

    def join(self, timeout: float | None = None) -> None:
        self._thread.join(timeout)

    def watch(self, every: float) -> Iterator[JobState]:
        """States, looked at every so many seconds, until it is over."""
        while True:
            state = self.state()
            yield state
            if state.phase != "running":
                return
            with self._state:
                self._state.wait(every)

    def tell(self, said: str, share: float) -> None:
        """For the work: what is being done now."""
        with self._state:
            self._said, self._share = said, min(1.0, share)

    def _run(self, work: Callable[[Job], None]) -> None:
        phase: Phase = "done"
        said = WORDS["roof.measured" if self.kind == "measure" else "roof.run.done"]
        try:
            work(self)
        except Stopped:
            pass
        except UserError as error:
            phase, said = "failed", WORDS["roof.failed"].format(reason=error)
        except Exception:
            logger.exception("a measurement failed")
            phase, said = "failed", WORDS["roof.failed"].format(reason=WORDS["roof.fault"])
        if self.batch.stopped and phase == "done":
            phase, said = "stopped", WORDS["roof.measure_stopped" if self.kind == "measure" else "roof.run.stopped"]
        with self._state:
            self._phase, self._said, self._share = phase, said, 1.0
            self._state.notify_all()


class Jobs:
    """The one job that runs, or ran last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._job: Job | None = None

    @property
    def last(self) -> Job | None:
        return self._job

    def begin(self, make: Callable[[], Job]) -> Job:
        """Raises `UserError` while another one runs."""
        with self._lock:
            if self._job is not None and not self._job.over:
                raise UserError(WORDS["roof.busy"])
            self._job = make()
            return self._job

    def stop(self, page: str) -> None:
        """Stop the job if it is this page's."""
        job = self._job
        if job is not None and job.page == page:
            job.stop()


def measure_machine(job: Job) -> None:
    """Time the forwards of all sizes."""

    def report(point: Point, share: float) -> None:
        batch, length, context = point
        job.tell(WORDS["roof.measuring"].format(batch=batch, length=length, context=context), share)

    measure(job.board.service, report, stopped=lambda: job.batch.stopped)


def run_batches(job: Job, batches: Sequence[int], methods: Sequence[str]) -> None:
    """Decode so many sequences together, plainly and by `methods`, in turn; the board learns of every result."""
    prompts = batch_prompts()
    lanes = [PLAIN, *(method for method in methods if method != PLAIN)]
    unknown = [method for method in lanes if method != PLAIN and method not in job.board.yields]
    steps = len(unknown) + sum(_waves(batch) for batch in batches) * len(lanes)
    done = 0
    for method in unknown:
        job.board.yields[method] = _sample(job, method, prompts, done, steps)
        done += 1
        if job.batch.stopped:
            del job.board.yields[method]
            return
    for batch in batches:
        done = _point(job, batch, lanes, prompts, done, steps)
        if job.batch.stopped:
            return


def _point(job: Job, batch: int, lanes: Sequence[str], prompts: Sequence[str], done: int, steps: int) -> int:
    """All lanes at one batch size, wave by wave in turn, so that a busy moment is shared; returns steps done."""
    board = job.board
    planned = {method: board.plan_run(method, batch) for method in lanes}
    waves: dict[str, list[list[Trace]]] = {method: [] for method in lanes}
    for wave in range(_waves(batch)):
        asked = [prompts[(wave * batch + at) % len(prompts)] for at in range(batch)]
        for method in lanes if wave % 2 == 0 else lanes[::-1]:
            told = WORDS["roof.run.running"].format(sequences=sequences(batch), method=method, tokens="{tokens}")
            waves[method].append(_decode(job, method, asked, told, done / steps, 1 / steps))
            done += 1
            if job.batch.stopped:
                return done
    for method in lanes:
        result = summed_up(waves[method])
        if result is None:
            board.too_short.add((method, batch))
        else:
            board.note(result, planned[method])
    return done


def _sample(job: Job, method: str, prompts: Sequence[str], done: int, steps: int) -> MeasuredYield | None:
    """Answers drafted with a fixed length, so that no draft is cut; None where drafts cannot be played through.

    Which tokens a draft model samples depends on how many are wanted, and tokens that are computed beside a draft take
    time that the profile does not know: such methods are run without a plan.
    """
    traces: list[Trace] = []
    size = min(SAMPLE_BATCH, job.board.service.engine.capacity)
    for start in range(0, SAMPLE, size):
        asked = list(prompts[start : start + size])
        told = WORDS["roof.run.sampling"].format(method=method, n=len(asked), tokens="{tokens}")
        share = (done + start / SAMPLE) / steps
        traces += _decode(job, method, asked, told, share, size / SAMPLE / steps, s_q=SAMPLED)
        if job.batch.stopped:
            return None
    if method in WITH_DRAFT_MODEL or any(round_.scratch for trace in traces for round_ in trace.rounds):
        return None
    return measured_yield(traces, SAMPLED)


def _decode(
    job: Job, method: str, prompts: Sequence[str], told: str, share: float, worth: float, s_q: int | None = None
) -> list[Trace]:
    longest = LONGEST + AHEAD * len(prompts)
    settings = Settings(
        method=method,
        max_new_tokens=longest,
        s_q="auto" if s_q is None else s_q,
        datastore=None if method in WITH_DRAFT_MODEL else job.board.store,
    )
    job.tell(told.format(tokens=0), share)
    return job.batch.decode(
        prompts, settings, lambda tokens: job.tell(told.format(tokens=tokens), share + worth * tokens / longest)
    )


def _waves(batch: int) -> int:
    return max(1, LEAST_ANSWERS // batch)


def sequences(count: int) -> str:
    return WORDS["roof.sequence"] if count == 1 else WORDS["roof.sequences"].format(n=count)
