"""How much to speculate on this machine: the target's forward time T, measured, and the knee in it.

Verifying more tokens in one forward is nearly free while the machine waits for memory, and stops being free
where computation takes over. The Roofline model puts that knee at peak FLOP/s ÷ bandwidth; small models and
long contexts have costs that it ignores, so the length is chosen from T itself.

This module knows no model: it is handed `time_forward`. Peaks are in `peaks.py`, files in `profile_file.py`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from statistics import median

# (sequences in the batch, tokens of each, tokens already in each one's cache) → seconds of one target forward
TimeForward = Callable[[int, int, int], float]
Point = tuple[int, int, int]  # the same three

BATCHES = (1, 2, 4, 8, 16, 32)
LENGTHS = (1, 2, 4, 8, 16, 32)
CONTEXTS = (64, 512)
MAX_AUTO_S_Q = LENGTHS[-1]  # a request may ask for more
FREE_RIDE = 1.2  # a forward of s_q tokens may take this many times one of a single token
HOPELESS = 4.0  # beyond this many times, longer drafts are not worth measuring
QUICK_SECONDS = 1.2


@dataclass(frozen=True)
class Profile:
    """What was measured of one model on one machine."""

    forward_seconds: dict[Point, float]
    flops: float | None = None  # achieved per second by a large matrix product in the decoding dtype
    bandwidth: float | None = None  # bytes per second read from memory

    @property
    def knee(self) -> float | None:
        """I_knee: the operations that the machine can do for every byte it reads."""
        return self.flops / self.bandwidth if self.flops and self.bandwidth else None

    @cached_property
    def by_context(self) -> dict[int, dict[int, dict[int, float]]]:
        """The measured forwards as context → batch → length → seconds."""
        table: dict[int, dict[int, dict[int, float]]] = {}
        for (batch, length, context), seconds in self.forward_seconds.items():
            table.setdefault(context, {}).setdefault(batch, {})[length] = seconds
        return table


def probe(
    time_forward: TimeForward,
    *,
    batches: Iterable[int] = BATCHES,
    contexts: Iterable[int] = CONTEXTS,
    repeats: int = 3,
    report: Callable[[Point], None] = lambda point: None,
) -> Profile:
    """Measure T at every (batch, length, context): the median of `repeats` forwards, the first with a warm-up.

    Each repeat goes through all points, so that a moment's disturbance spoils one timing of some points and not
    all timings of one. Lengths end where T has passed `HOPELESS` times that of one token. `report` hears of each
    point before it is measured. Peaks are not measured here.
    """
    timings: dict[Point, list[float]] = {}
    for batch, context in product(batches, contexts):
        for length in LENGTHS:
            point = (batch, length, context)
            report(point)
            time_forward(*point)
            timings[point] = [time_forward(*point)]
            if timings[point][0] > HOPELESS * timings[batch, 1, context][0]:
                break
    for point, times in list(timings.items()) * (repeats - 1):
        report(point)
        if point[1] == 1:  # the forward before was a much larger one, and left nothing of use in the caches
            time_forward(*point)
        times.append(time_forward(*point))
    return Profile({point: median(times) for point, times in timings.items()})


def quick_probe(time_forward: TimeForward, *, budget_seconds: float = QUICK_SECONDS) -> Profile:
    """Measure T for one sequence and a short context only, for a first start that must not keep anybody waiting.

    After a warm-up, lengths are timed in up to three passes, the most telling ones first, until the forwards
    have taken `budget_seconds` in all; one token and `MAX_AUTO_S_Q` tokens are always measured.
    """
    context = CONTEXTS[0]
    ends = (1, MAX_AUTO_S_Q)
    order = (*ends, *(length for length in reversed(LENGTHS) if length not in ends))
    spent = sum(time_forward(1, length, context) for length in ends)
    timings: dict[int, list[float]] = {}
    for _ in range(3):
        for length in order:
            if spent >= budget_seconds and len(timings) >= len(ends):
                break
            seconds = time_forward(1, length, context)
            timings.setdefault(length, []).append(seconds)
            spent += seconds
    return Profile({(1, length, context): median(times) for length, times in timings.items()})


def knee_s_q(profile: Profile, batch: int, context: int) -> int:
    """The tokens to process per sequence and round (root included) when `batch` sequences share a forward.

    The knee by measured time: the largest m up to `MAX_AUTO_S_Q` with T(batch, m) ≤ `FREE_RIDE` · T(batch, 1), at
    caches of `context` tokens; at least 1, and 1 when nothing was measured.
    """
    if not profile.forward_seconds:
        return 1
    # Asked in every round: a curve through six lengths costs far less than 32 full lookups.
    curve = {length: forward_time(profile, batch, length, context) for length in LENGTHS}
    limit = FREE_RIDE * curve[1]
    return next((m for m in range(MAX_AUTO_S_Q, 1, -1) if interpolate(curve, m) <= limit), 1)


def knee_tokens(profile: Profile, bytes_per_weight: float) -> float:
    """The tokens in a forward at which arithmetic takes as long as reading the weights.

    A weight of w bytes is read once and serves two operations a token, so that is at I_knee · w / 2 tokens. Raises
    `ValueError` if the profile holds no peaks.
    """
    if profile.knee is None:
        raise ValueError("the profile holds no peaks")
    return profile.knee * bytes_per_weight / 2


def roofline_s_q(profile: Profile, batch: int, bytes_per_weight: float) -> int:
    """The plain rule of arXiv 2411.05894: as many tokens per sequence as reach the knee, I_knee / batch.

    Between 1 and `MAX_AUTO_S_Q`. Raises `ValueError` if the profile holds no peaks.
    """
    return max(1, min(MAX_AUTO_S_Q, int(knee_tokens(profile, bytes_per_weight) / batch)))


def forward_time(profile: Profile, batch: int, length: float, context: int) -> float:
    """T(batch, length, context) in seconds, linear between measured points and beyond the last one.

    A batch larger than any measured is taken as the largest one with as many tokens more in each sequence.
    Raises `ValueError` when nothing was measured.
    """
    if not profile.forward_seconds:
        raise ValueError("the profile holds no measured forward")
    return interpolate({at: _at_batch(rows, batch, length) for at, rows in profile.by_context.items()}, context)


def _at_batch(rows: dict[int, dict[int, float]], batch: int, length: float) -> float:
    largest = max(rows)
    if batch > largest:
        length, batch = length * batch / largest, largest
    return interpolate({b: interpolate(times, length) for b, times in rows.items()}, batch)


def interpolate(points: dict[int, float], x: float) -> float:
    """The value at `x` of the line through `points`; before the first it is level, after the last it goes on."""
    xs = sorted(points)
    if len(xs) == 1 or x <= xs[0]:
        return points[xs[0]]
    right = min(bisect_right(xs, x), len(xs) - 1)
    x0, x1 = xs[right - 1], xs[right]
    return points[x0] + (points[x1] - points[x0]) * (x - x0) / (x1 - x0)
