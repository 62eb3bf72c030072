"""Who worked when in one answer, drafter and target: as it was measured here.

`two_devices.py` draws up the same picture for two devices, computed. The two clocks are never mixed in one timeline.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import mean
from typing import Literal

from sssd_demo.trace import Round, SaguaroRound, Trace, Work, Worker

# Besides a speculation cache's kinds of work: a draft made while the target waits, and the target's verification.
Doing = Work | Literal["draft", "verify"]


@dataclass(frozen=True)
class Bar:
    """One stretch of work; milliseconds from the end of the prompt's reading."""

    who: Worker
    what: Doing
    start_ms: float
    end_ms: float
    round: int  # the index of the round it was for

    @property
    def ms(self) -> float:
        return self.end_ms - self.start_ms


@dataclass(frozen=True)
class HandOver:
    """When the target got a round's draft; `hit` is None where nothing had been looked up."""

    round: int
    ms: float
    hit: bool | None


@dataclass(frozen=True)
class Timeline:
    """One answer from the end of the prompt's reading to its last token."""

    bars: tuple[Bar, ...]
    hand_overs: tuple[HandOver, ...]
    total_ms: float
    tokens: int  # after the first one, which came of reading the prompt

    @property
    def tokens_per_second(self) -> float | None:
        return 1000 * self.tokens / self.total_ms if self.total_ms else None

    def share(self, who: Worker) -> float | None:
        """The share of the time in which `who` worked."""
        if not self.total_ms:
            return None
        bars = [bar for bar in self.bars if bar.who == who and bar.what != "wait" and bar.start_ms < self.total_ms]
        return sum(min(bar.end_ms, self.total_ms) - max(0.0, bar.start_ms) for bar in bars) / self.total_ms

    def total_of(self, *what: Doing) -> float:
        """The time that went into `what`."""
        return sum(bar.ms for bar in self.bars if bar.what in what)

    def mean_ms(self, *what: Doing) -> float:
        """The mean time of a round that went into `what`."""
        return self.total_of(*what) / max(1, len(self.hand_overs))

    def waits(self, hit: bool | None) -> float | None:
        """The mean time from a round's beginning to its draft, over rounds of this kind; None without any."""
        ends = {bar.round: bar.end_ms for bar in self.bars if bar.what == "verify"}
        found = [each.ms - ends.get(each.round - 1, 0.0) for each in self.hand_overs if each.hit is hit]
        return mean(found) if found else None


def measured(trace: Trace) -> Timeline | None:
    """As the trace's own timestamps say; None before the first round after the prompt's.

    A method that drafts in turn with the target has no spans: what came before verification was its drafting.
    """
    if len(trace.rounds) < 2:
        return None
    zero = trace.rounds[0].end_ms
    bars: list[Bar] = []
    hand_overs = []
    for round_ in trace.rounds[1:]:
        handed = round_.start_ms + round_.draft_ms
        bars += _drafting(round_, zero)
        bars.append(Bar("target", "verify", handed - zero, round_.end_ms - zero, round_.index))
        hand_overs.append(HandOver(round_.index, handed - zero, looked_up(round_.saguaro)))
    return Timeline(tuple(bars), tuple(hand_overs), trace.rounds[-1].end_ms - zero, tokens_after_first(trace))


def tokens_after_first(trace: Trace) -> int:
    return sum(len(round_.committed) for round_ in trace.rounds[1:])


def looked_up(work: SaguaroRound | None) -> bool | None:
    """Whether the outcome had been prepared; None where nothing can have been."""
    return None if work is None or work.why == "first" else work.hit


def _drafting(round_: Round, zero: float) -> Iterable[Bar]:
    if round_.saguaro is None:
        if round_.draft_ms and len(round_.tree):
            start = round_.start_ms - zero
            yield Bar("drafter", "draft", start, start + round_.draft_ms, round_.index)
        return
    for span in round_.saguaro.spans:
        yield Bar(span.who, span.what, span.start_ms - zero, span.end_ms - zero, round_.index)
