"""A comparison → figures for each lane, counted as by the command `bench`.

Only answers that the yardstick gave too are counted, so that a ratio is always that of two measurements of the same
question in the same repeat.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from statistics import quantiles

from sssd_demo.bench import BASELINE
from sssd_demo.bench import figures as bench
from sssd_demo.bench.lanes import token_probs
from sssd_demo.compare.comparison import Comparison, Cost, Run
from sssd_demo.compare.plan import Lane

UNSTEADY = 2.0  # times; on an idle machine the slowest tenth of equal forwards takes some per cent longer
FEWEST_FORWARDS = 10


@dataclass(frozen=True)
class Spread:
    """Over answers; of one answer alone, all four are that one."""

    mean: float
    median: float
    p25: float
    p75: float


@dataclass(frozen=True)
class Place:
    """So many tokens ahead: rounds with a guess there, and rounds whose accepted guesses reached it."""

    drafted: int
    accepted: int

    @property
    def share(self) -> float:
        return self.accepted / self.drafted


@dataclass(frozen=True)
class Difference:
    """The first token in which an answer leaves the yardstick's; None where one of the two had ended."""

    pair: tuple[int, int]  # (question, repeat)
    position: int  # in the answer, from 0
    token: int | None
    p: float | None  # the target's probability of it, by this lane's own forward
    plain_token: int | None
    plain_p: float | None

    @property
    def gap(self) -> float | None:
        """How far apart the two probabilities are: next to nothing where rounding broke a tie."""
        return None if self.p is None or self.plain_p is None else abs(self.p - self.plain_p)


@dataclass(frozen=True)
class LaneFigures:
    """What one lane's answers came to. A figure that has nothing to measure is None."""

    lane: Lane
    cost: Cost
    answers: int
    tokens: int
    per_second: Spread | None
    ratio: Spread | None  # to the yardstick's tokens per second, answer by answer
    per_forward: Spread | None
    seconds: Spread | None  # start of the first prefill forward to the last token
    first_ms: Spread | None
    draft_ms: Spread | None
    verify_ms: Spread | None
    drafted: int
    accepted: int
    rejected: int
    ignored: int
    places: tuple[Place, ...]  # entry d − 1: d tokens ahead
    law_only: bool  # drafts were drawn: the same law is promised, not the same text
    differences: tuple[Difference, ...]  # one for each answer that is not the yardstick's; empty where `law_only`

    @property
    def is_yardstick(self) -> bool:
        return self.lane.method == BASELINE


def lane_figures(comparison: Comparison) -> list[LaneFigures]:
    """One for each lane that has an answer which can be compared, in the plan's order."""
    plain = {run.pair: run for run in comparison.runs if run.step.lane == 0}
    found = []
    for number, lane in enumerate(comparison.plan.lanes):
        runs = [run for run in comparison.runs if run.step.lane == number and run.pair in plain]
        if runs:
            found.append(_figures(lane, comparison.costs[number], runs, [plain[run.pair] for run in runs]))
    return found


def drafts_are_drawn(run: Run) -> bool:
    """Whether any of its guesses was drawn by chance, so that the coins that judge it change the text."""
    return any(law != "point" for round_ in run.trace.rounds for law in round_.tree.laws)


def first_difference(run: Run, plain: Run) -> Difference | None:
    """None where both wrote the same tokens."""
    own, theirs = _written(run), _written(plain)
    for position, (ours, other) in enumerate(zip_longest(own, theirs, fillvalue=(None, None))):
        if ours[0] != other[0]:
            return Difference(run.pair, position, *ours, *other)
    return None


def speed_ratio(run: Run, plain: Run) -> float | None:
    """Tokens per second of one answer to the yardstick's; None where either is too short to tell."""
    ours, theirs = run.summary.tokens_per_second, plain.summary.tokens_per_second
    return ours / theirs if ours and theirs else None


def unsteady(comparison: Comparison) -> tuple[float, float] | None:
    """Low and high decile, in milliseconds, of plain decoding's forwards where they are far apart in some answer.

    Each of them computes the same, so something else must have been using the machine. None where they are steady.
    """
    for run in comparison.runs:
        times = [round_.verify_ms for round_ in run.trace.rounds[1:]] if run.step.lane == 0 else []
        if len(times) >= FEWEST_FORWARDS:
            low, *_, high = quantiles(times, n=10)
            if high > UNSTEADY * low:
                return low, high
    return None


def _figures(lane: Lane, cost: Cost, runs: Sequence[Run], plain: Sequence[Run]) -> LaneFigures:
    """`plain` holds the yardstick's answer to each of `runs`."""
    summaries = [run.summary for run in runs]
    law_only = any(map(drafts_are_drawn, runs))
    pairs = list(zip(runs, plain, strict=True))
    differences = () if law_only else tuple(filter(None, (first_difference(*pair) for pair in pairs)))
    drafted = zip_longest(*(summary.drafted_by_position for summary in summaries), fillvalue=0)
    accepted = zip_longest(*(summary.accepted_by_position for summary in summaries), fillvalue=0)
    return LaneFigures(
        lane=lane,
        cost=cost,
        answers=len(runs),
        tokens=sum(summary.tokens for summary in summaries),
        per_second=_spread(summary.tokens_per_second for summary in summaries),
        ratio=_spread(speed_ratio(*pair) for pair in pairs),
        per_forward=_spread(summary.tokens_per_forward for summary in summaries),
        seconds=_spread(summary.seconds for summary in summaries),
        first_ms=_spread(summary.ttft_ms for summary in summaries),
        draft_ms=_spread(summary.draft_ms for summary in summaries),
        verify_ms=_spread(summary.verify_ms for summary in summaries),
        drafted=sum(summary.drafted for summary in summaries),
        accepted=sum(summary.accepted for summary in summaries),
        rejected=sum(summary.rejected for summary in summaries),
        ignored=sum(summary.ignored for summary in summaries),
        places=tuple(Place(sum(there), sum(kept)) for there, kept in zip(drafted, accepted, strict=True)),
        law_only=law_only,
        differences=differences,
    )


def _spread(values: Iterable[float | None]) -> Spread | None:
    found = bench.spread(values)
    return None if found is None else Spread(**found)


def _written(run: Run) -> list[tuple[int | None, float | None]]:
    """Each token of the answer with the target's probability of it."""
    return list(zip(run.trace.token_ids(), token_probs(run.trace), strict=True))
