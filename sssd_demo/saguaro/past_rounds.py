"""What one answer's past rounds say about its next ones: hits, ranks, acceptance, and when to stop preparing.

Everything here follows from outcomes and times of past rounds, never from tokens just drafted, so that the text's law
does not change with it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from sssd_demo.saguaro.bent_law import RANKS
from sssd_demo.speculators.draft_length import Rate

MEMORY = 16  # rounds
HEALTHY, ALARM = 0.7, 0.5  # hit rates above which the window may grow, and below which it shrinks
PATIENCE = 4  # rounds between two changes of the window
RESTING = 8  # rounds without preparing after too many misses in a row; then it is tried again
PRIOR_EXPONENT = 1.0  # r before ranks are known
PRIOR_HIT_RATE = 0.7
BELIEF = 8.0  # ranks that must be seen to outweigh the prior


@dataclass
class Ranks:
    """How often the bonus token held each rank among the drafter's guesses."""

    counts: list[float] = field(default_factory=lambda: [0.0] * RANKS)
    total: float = 0.0

    def add(self, rank: int) -> None:
        self.total += 1
        if rank <= RANKS:
            self.counts[rank - 1] += 1

    def within(self, fan: int, prior: float) -> float:
        """The probability that the bonus is among the `fan` likeliest; `prior` is what it was taken to be before."""
        return (sum(self.counts[:fan]) + BELIEF * prior) / (self.total + BELIEF)


@dataclass
class PastRounds:
    """Of one answer."""

    roll_back_after: int  # misses in a row; 0: never
    acceptance: Rate = field(default_factory=Rate)
    hits: deque[bool] = field(default_factory=lambda: deque(maxlen=MEMORY))
    misses_in_a_row: int = 0
    resting: int = 0  # rounds that are still to be decoded without preparing
    log_ranks: float = 0.0  # Σ ln(rank + 1/2)
    ranks: int = 0
    refused: Ranks = field(default_factory=Ranks)  # of bonuses after a refusal
    whole: Ranks = field(default_factory=Ranks)  # after a draft that was accepted whole

    def looked_up(self, hit: bool) -> None:
        """An outcome was looked up among prepared ones."""
        self.hits.append(hit)
        self.misses_in_a_row = 0 if hit else self.misses_in_a_row + 1
        if self.roll_back_after and self.misses_in_a_row >= self.roll_back_after:
            self.misses_in_a_row, self.resting = 0, RESTING

    def rested(self) -> None:
        """A round was decoded without preparing."""
        self.resting -= 1

    def ranked(self, rank: int, refused: bool) -> None:
        """The bonus had this rank among the drafter's guesses; `refused`: it came after a refused draft."""
        self.ranks += 1
        self.log_ranks += math.log(rank + 0.5)
        (self.refused if refused else self.whole).add(rank)

    def expected_hits(self, fan: Sequence[int]) -> float:
        """The hit rate to be expected where F_k outcomes are prepared for k accepted tokens, `fan` being F_0 … F_K.

        Before ranks are known, the first guess after a whole draft is taken to be as good as its drafted tokens were,
        and further ones to halve, then third what is missed.
        """
        a, last = self.acceptance.value, len(fan) - 1
        found = a**last * self.whole.within(fan[last], 1 - (1 - a) / fan[last] if fan[last] else 0.0)
        for accepted, guesses in enumerate(fan[:last]):
            found += a**accepted * (1 - a) * self.refused.within(guesses, 1 - 1 / (guesses + 1))
        return found

    @property
    def hit_rate(self) -> float:
        """Of the last rounds."""
        return sum(self.hits) / len(self.hits) if self.hits else PRIOR_HIT_RATE

    @property
    def exponent(self) -> float:
        """r, by which P(rank > F) falls like F^−r: the mean of ln rank is 1/r in such a law."""
        return (self.ranks + BELIEF) / (self.log_ranks + BELIEF / PRIOR_EXPONENT)

    @property
    def shares(self) -> tuple[float, ...]:
        """How often a bonus after a refusal held each rank; empty while too few are known."""
        if self.refused.total < BELIEF:
            return ()
        return tuple(count / self.refused.total for count in self.refused.counts)


@dataclass
class Window:
    """K, the tokens drafted in a row, where it is left to the machine.

    It grows while the hit rate is healthy and whole drafts are accepted, and shrinks when outcomes are missed, when
    half of a draft is refused, or when rounds take longer than `latency_ms`. What fits into a verification bounds it,
    which is the caller's business.
    """

    k: int
    most: int
    latency_ms: float | None = None
    accepted: deque[float] = field(default_factory=lambda: deque(maxlen=PATIENCE))  # as shares of the draft
    round_ms: deque[float] = field(default_factory=lambda: deque(maxlen=PATIENCE))

    def observe(self, drafted: int, accepted: int, round_ms: float, hit_rate: float) -> None:
        """A round is over; `hit_rate` is that of the last rounds."""
        if drafted:
            self.accepted.append(accepted / drafted)
        self.round_ms.append(round_ms)
        if len(self.round_ms) < PATIENCE:
            return
        share = sum(self.accepted) / len(self.accepted) if self.accepted else 0.0
        slow = self.latency_ms is not None and median(self.round_ms) > self.latency_ms
        if slow or hit_rate < ALARM or share < 0.5:
            change = -1
        elif hit_rate > HEALTHY and share > 0.8:
            change = 1
        else:
            return
        self.k = min(max(1, self.k + change), self.most)
        self.accepted.clear()
        self.round_ms.clear()
