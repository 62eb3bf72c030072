"""Do the two sources add up? What each gains alone against what they gain together.

The authors of arXiv 2411.05894 report that the gains of the prompt and of the datastore add up almost perfectly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sssd_demo.experiments.figure import Axis, Figure, Series
from sssd_demo.experiments.held_out import check_held_out
from sssd_demo.experiments.phrases import listed
from sssd_demo.experiments.recycling import as_recorded, told
from sssd_demo.experiments.redraft import (
    BOTH,
    DATASTORE_ONLY,
    PROMPT_ONLY,
    Redrafted,
    draws,
    interval,
    long_enough,
    redraft,
)
from sssd_demo.sssd.constants import Settings
from sssd_demo.sssd.drafter import Store
from sssd_demo.sssd.recorded_answers import RecordedAnswer

LEAST_ANSWERS = 10
SUM = "sum of the two"
SEED = 0


@dataclass(frozen=True)
class Budget:
    answers: int
    s_qs: tuple[int, ...]


BUDGETS = {"small": Budget(80, (8, 16)), "full": Budget(10_000, (4, 8, 16, 32))}


@dataclass(frozen=True)
class _Gains:
    """At one s_q: each gain with its bootstrap interval, and the gain of both as a share of the sum."""

    s_q: int
    series: Series
    share: float
    share_low: float
    share_high: float


def run(
    answers: Sequence[RecordedAnswer],
    store: Store,
    store_name: str,
    *,
    budget: Budget,
    settings: Settings,
    tell: Callable[[str], None],
) -> list[Figure]:
    """Draft held-out `answers` with each source alone and with both.

    Raises `UserError` if the answers are too few or the store knows one of them.
    """
    answers = long_enough(answers, LEAST_ANSWERS)[: budget.answers]
    check_held_out(answers, store, store_name)
    settings = as_recorded(settings, answers)
    found = []
    for s_q in budget.s_qs:
        tell(f"{len(answers)} answers, s_q {s_q}")
        by_source = [redraft(answers, [store], name, s_q, settings) for name in (PROMPT_ONLY, DATASTORE_ONLY, BOTH)]
        found.append(_gains(s_q, *by_source))
    details: dict[str, Any] = {"answers": len(answers), "store": store_name, "s_q": list(budget.s_qs)}
    details |= {"spread": "95 % of bootstrap samples of the answers", "seed": SEED}
    details |= {"both_as_share_of_sum": {str(one.s_q): [one.share_low, one.share, one.share_high] for one in found}}
    figure = Figure(
        experiment="additivity",
        title="Do the gains of the two sources add up?",
        verdict=_verdict(found),
        x=Axis("drafts from", ""),
        y=Axis("accepted drafts", "tokens per forward"),
        series=tuple(one.series for one in found),
        kind="bar",
        settings=details,
    )
    return [told(figure, settings)]


def _gains(s_q: int, prompt: Redrafted, datastore: Redrafted, both: Redrafted) -> _Gains:
    drawn = draws(len(both.tokens), SEED)
    spreads = [one.resampled(drawn) - 1 for one in (prompt, datastore, both)]
    spreads.insert(2, spreads[0] + spreads[1])
    total = prompt.gain + datastore.gain
    intervals = [interval(spread) for spread in spreads]
    series = Series(
        name=f"s_q {s_q}",
        x=(PROMPT_ONLY, DATASTORE_ONLY, SUM, BOTH),
        y=(prompt.gain, datastore.gain, total, both.gain),
        low=tuple(low for low, _ in intervals),
        high=tuple(high for _, high in intervals),
    )
    drafted = spreads[2] > 0  # in a sample without one accepted draft there is nothing to share
    if not drafted.any():
        return _Gains(s_q, series, 1.0, 1.0, 1.0)
    return _Gains(s_q, series, both.gain / total, *interval(spreads[3][drafted] / spreads[2][drafted]))


def _verdict(found: list[_Gains]) -> str:
    first, *others = found
    prompt, datastore, _, both = first.series.y
    if prompt + datastore <= 0:
        return f"Neither source had a draft accepted at s_q {first.s_q}, so there is nothing to add up."
    sentence = (
        f"At s_q {first.s_q} the prompt alone adds {prompt:.2f} tokens a forward, the datastore alone {datastore:.2f}, "
        f"and both together {both:.2f}: {first.share:.0%} of the sum "
        f"({first.share_low:.0%} to {first.share_high:.0%})"
    )
    if others:
        sentence += "; " + listed([f"{one.share:.0%} at s_q {one.s_q}" for one in others])
    return sentence + "."
