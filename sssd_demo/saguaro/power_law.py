"""How fast a miss gets rarer with every bonus token more that is prepared: P(rank > F) ≈ c · F^−r (arXiv 2603.03251).

The rank is the bonus's place among the drafter's guesses; with fan-out F, a bonus of a higher rank than F is a miss.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

LEAST_RANKS = 20  # fewer say nothing about a tail
LEAST_BEYOND = 2  # ranks that must lie beyond a fan-out for it to be a point of the fit
LEAST_POINTS = 2


@dataclass(frozen=True)
class PowerLaw:
    """The law fitted to so many `ranks`."""

    c: float
    r: float
    ranks: int

    def missed(self, fan_out: int) -> float:
        """The share of bonus tokens that the first `fan_out` guesses miss, at most 1. `fan_out` is at least 1."""
        return min(1.0, self.c * fan_out**-self.r)


def tail(ranks: Sequence[int]) -> list[tuple[int, float]]:
    """(F, share of ranks beyond F) for F = 1, 2, 3, 4, 6, 8, 12, … as far as there are any beyond it."""
    points, fan_out, step = [], 1, 1
    while beyond := sum(rank > fan_out for rank in ranks):
        points.append((fan_out, beyond / len(ranks)))
        fan_out += step
        if fan_out & (fan_out - 1) == 0:  # a power of two: four, then eight, …
            step = max(1, fan_out // 2)
    return points


def fit(ranks: Sequence[int]) -> PowerLaw | None:
    """The line through log share over log F, each point weighed by the ranks it rests on; None if they are too few."""
    points = [(fan_out, share) for fan_out, share in tail(ranks) if share * len(ranks) >= LEAST_BEYOND - 1e-9]
    if len(ranks) < LEAST_RANKS or len(points) < LEAST_POINTS:
        return None
    weights = [share for _, share in points]
    xs, ys = [math.log(fan_out) for fan_out, _ in points], [math.log(share) for _, share in points]
    whole = sum(weights)
    x_mean = sum(w * x for w, x in zip(weights, xs, strict=True)) / whole
    y_mean = sum(w * y for w, y in zip(weights, ys, strict=True)) / whole
    spread = sum(w * (x - x_mean) ** 2 for w, x in zip(weights, xs, strict=True))
    slope = sum(w * (x - x_mean) * (y - y_mean) for w, x, y in zip(weights, xs, ys, strict=True)) / spread
    return PowerLaw(math.exp(y_mean - slope * x_mean), -slope, len(ranks))
