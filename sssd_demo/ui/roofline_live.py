"""What visitors are doing now, summed up: how many share a forward, how long their texts are, what a forward brings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from sssd_demo.trace import Trace

LAST = 12  # rounds of each answer that are looked at


@dataclass(frozen=True)
class Live:
    """Answers under way. No text is in it."""

    answers: int  # running or waiting
    batch: int  # sequences in the last forward
    context: int  # tokens of the longest
    rounds: int  # that the figures below rest on; 0: none yet
    s_q: float = 1.0
    tokens: float = 1.0  # a forward brought of each sequence
    verify_ms: float = 0.0


def live(busy: int, capacity: int, traces: Sequence[Trace]) -> Live | None:
    """What is going on, from the number of answers that the engine has and the traces of those that are seen.

    None while nobody is answered. Not all that keeps the engine busy has a trace here, so its count is what holds.
    """
    if not busy:
        return None
    latest = [round_ for trace in traces for round_ in trace.rounds[1:][-LAST:]]
    newest = max(latest, key=lambda round_: round_.start_ms, default=None)
    context = max((len(trace.prompt) + len(trace.token_ids()) for trace in traces), default=0)
    if newest is None:
        return Live(busy, min(busy, capacity), context, 0)
    return Live(
        answers=busy,
        batch=newest.batch_size,
        context=context,
        rounds=len(latest),
        s_q=fmean(1 + len(round_.tree) + round_.withheld + round_.scratch for round_ in latest),
        tokens=fmean(len(round_.committed) for round_ in latest),
        verify_ms=fmean(round_.verify_ms for round_ in latest),
    )
