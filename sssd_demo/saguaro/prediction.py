"""What preparing drafts ahead should bring by the formulas of arXiv 2603.03251, from quantities measured on one clock.

    against drafting in turn        (1 + d) / (1 + (1 − p) · d)
    against plain decoding          [p · E_hit + (1 − p) · E_miss] / [p · max(1, T_p) + (1 − p) · (1 + T_b)]

p is the hit rate, d the time of a draft made in turn; E are tokens that a round brings, T_p is the time of preparing
and T_b what a miss costs. Times are in verifications. Both formulas take verification to be as fast beside a drafter
as alone; where it is slower by a factor s, preparing ahead wins only if s + (1 − p) · T_b < 1 + d.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

from sssd_demo.saguaro.timeline import Timeline
from sssd_demo.trace import Round, Trace


@dataclass(frozen=True)
class Inputs:
    """What the formulas go by. Times are in verifications of drafting in turn, on one clock."""

    p: float
    d: float
    e_hit: float
    e_miss: float
    t_p: float
    t_b: float
    s: float  # a verification beside the drafter, as a multiple of one without it
    verify_ms: float  # of one verification of drafting in turn

    @property
    def against_in_turn(self) -> float:
        return (1 + self.d) / (1 + (1 - self.p) * self.d)

    @property
    def against_plain(self) -> float:
        tokens = self.p * self.e_hit + (1 - self.p) * self.e_miss
        return tokens / (self.p * max(1.0, self.t_p) + (1 - self.p) * (1 + self.t_b))

    @property
    def should_win(self) -> bool:
        return self.s + (1 - self.p) * self.t_b < 1 + self.d


def inputs(trace: Trace, ahead: Timeline, in_turn: Timeline) -> Inputs | None:
    """From a Saguaro answer `trace`, its timeline and that of drafting in turn on the same clock.

    None where a quantity cannot be known: no round after the first, or no verification.
    """
    later = [r for r in trace.rounds if r.saguaro is not None and r.saguaro.why != "first"]
    unit = in_turn.mean_ms("verify")
    if not later or not unit:
        return None
    hits = [r for r in later if r.saguaro and r.saguaro.hit]
    misses = [r for r in later if r.saguaro and not r.saguaro.hit]
    wait = ahead.waits(hit=False)
    return Inputs(
        p=len(hits) / len(later),
        d=in_turn.mean_ms("draft") / unit,
        e_hit=_tokens(hits),
        e_miss=_tokens(misses),
        t_p=_preparing_ms(ahead, {r.index for r in later}) / unit,
        t_b=(wait or 0.0) / unit if misses else 0.0,
        s=ahead.mean_ms("verify") / unit,
        verify_ms=unit,
    )


def ratio(ahead: Timeline, other: Timeline) -> float | None:
    """How many times as many tokens per second as `other`, on the same clock."""
    mine, yours = ahead.tokens_per_second, other.tokens_per_second
    return mine / yours if mine and yours else None


def _tokens(rounds: Sequence[Round]) -> float:
    return mean(len(r.committed) for r in rounds) if rounds else 0.0


def _preparing_ms(ahead: Timeline, rounds: set[int]) -> float:
    """The mean time of preparing, over rounds for which anything was prepared."""
    bars = [bar for bar in ahead.bars if bar.what in ("glue", "branch") and bar.round in rounds]
    prepared = {bar.round for bar in bars}
    return sum(bar.ms for bar in bars) / len(prepared) if prepared else 0.0
