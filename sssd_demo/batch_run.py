"""Several different prompts decoded together through the service, and what that came to.

Prompts are read one after the other, and answers end at different times. So figures are taken from the stretch in
which all of the batch are being written; it ends with the first answer that does.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median, quantiles

from sssd_demo.errors import UserError
from sssd_demo.questions import read_questions
from sssd_demo.service import Answer, Service, Settings
from sssd_demo.trace import Round, Trace

PROMPTS = Path(__file__).parents[1] / "benchmarks" / "batch_prompts.jsonl"
LEAST_FORWARDS = 8  # that all of the batch shared; fewer tell nothing


@dataclass(frozen=True)
class BatchResult:
    """What decoding `batch` sequences together came to. Times are milliseconds, medians over the forwards."""

    method: str
    batch: int
    forwards: int
    tokens_per_second: float  # of all sequences together
    tokens_per_forward: float  # of one sequence
    s_q: float  # tokens that a forward held of a sequence, root included, on average: the longest counts
    ms_per_token: tuple[float, float]  # that a sequence waited for a token: median and 95th percentile over sequences
    draft_ms: float
    verify_ms: float
    beside_ms: float  # from a round's end to the next one's start: learning, and others' prompts
    context: int  # tokens of the longest sequence, on average
    shared: tuple[tuple[int, int], ...]  # (sequences in a forward, forwards), as it really was

    @property
    def under_load(self) -> bool:
        """Whether others were answered in the same forwards."""
        return any(size > self.batch for size, _ in self.shared)


def batch_prompts(path: Path = PROMPTS) -> list[str]:
    """The prompts for batches, written for this project; no two are the same. Raises `UserError` as reading does.

    The first 47 are those that the embedded model answers at length: the first answer to end ends a batch.
    """
    return [question.turns[0] for question in read_questions(path)]


class Batch:
    """Decodes batches, one at a time; any thread may stop it."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._door = threading.Lock()
        self._answers: list[Answer] = []
        self.stopped = False

    def decode(
        self, prompts: Sequence[str], settings: Settings, told: Callable[[int], None] = lambda tokens: None
    ) -> list[Trace]:
        """Answer all `prompts` at once, until the first answer ends; `told` hears how many tokens the first one has.

        After `stop`, traces are what there was. Raises `UserError` where a prompt is refused or the engine is closed.
        """
        answers: list[Answer] = []
        try:
            for prompt in prompts:
                with self._door:
                    if self.stopped:
                        break
                    answers.append(self._service.ask([{"role": "user", "content": prompt}], settings))
                    self._answers = answers
            written = 0
            # Only one is followed while they run: the engine's thread needs the interpreter more than we do.
            for round_ in answers[0] if answers else ():
                written += len(round_.committed)
                told(written)
        finally:
            for answer in answers:
                answer.cancel()
        for answer in answers[1:]:
            for _ in answer:
                pass
        if not self.stopped and answers[0].trace.finish_reason == "cancelled":
            raise UserError("The model was changed or closed.")
        return [answer.trace for answer in answers]

    def stop(self) -> None:
        """End after the round now running; returns at once."""
        with self._door:
            self.stopped = True
            for answer in self._answers:
                answer.cancel()


def summed_up(waves: Sequence[Sequence[Trace]]) -> BatchResult | None:
    """One result of several batches of the same size, decoded one after the other.

    None if they had too few forwards in common.
    """
    together = [_together(wave) for wave in waves]
    if sum(len(wave[0]) for wave in together) < LEAST_FORWARDS:
        return None
    batch = len(waves[0])
    first = [round_ for wave in together for round_ in wave[0]]  # times are the batch's, the same for each sequence
    forwards, seconds, tokens, gaps, waits = 0, 0.0, 0, [], []
    for wave in together:
        if not wave[0]:
            continue
        forwards += len(wave[0])
        took = (wave[0][-1].end_ms - wave[0][0].start_ms) / 1000
        seconds += took
        written = [sum(len(round_.committed) for round_ in rounds) for rounds in wave]
        tokens += sum(written)
        waits += [1000 * took / each for each in written]
        gaps += [after.start_ms - before.end_ms for before, after in zip(wave[0], wave[0][1:], strict=False)]
    return BatchResult(
        method=waves[0][0].method,
        batch=batch,
        forwards=forwards,
        tokens_per_second=tokens / seconds,
        tokens_per_forward=tokens / forwards / batch,
        s_q=fmean(max(map(_held, rounds)) for wave in together for rounds in zip(*wave, strict=True)),
        ms_per_token=(median(waits), _high(waits)),
        draft_ms=median(round_.draft_ms for round_ in first),
        verify_ms=median(round_.verify_ms for round_ in first),
        beside_ms=median(gaps) if gaps else 0.0,
        context=round(fmean(_longest(wave) for wave in waves)),
        shared=tuple(sorted(Counter(round_.batch_size for round_ in first).items())),
    )


def _together(wave: Sequence[Trace]) -> list[list[Round]]:
    """Of every trace the rounds in which all of the wave were written."""
    found = [{round_.start_ms: round_ for round_ in trace.rounds[1:]} for trace in wave]
    common = sorted(set.intersection(*map(set, found)))
    return [[rounds[start] for start in common] for rounds in found]


def _longest(wave: Sequence[Trace]) -> float:
    """Tokens of the longest sequence, in the middle of what was written."""
    return max(len(trace.prompt) + len(trace.token_ids()) / 2 for trace in wave)


def _held(round_: Round) -> int:
    return 1 + len(round_.tree) + round_.withheld + round_.scratch


def _high(values: list[float]) -> float:
    return quantiles(values, n=20, method="inclusive")[-1] if len(values) > 1 else values[0]
