"""Pearson's test of counts against a law."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

from tests.proofs.worlds import Text

SMALL = 10.0  # cells that expect less are counted as one


@dataclass(frozen=True)
class Test:
    runs: int
    statistic: float
    freedom: int
    p_value: float  # how often counts of that very law would lie as far off


def chi_square(counts: Mapping[Text, int], law: Mapping[Text, float]) -> Test:
    """A text that the law has no place for has the p-value 0."""
    runs = sum(counts.values())
    cells: dict[Text | None, list[float]] = {}  # observed, expected; None is where small cells go
    for text, mass in law.items():
        cell = cells.setdefault(text if runs * mass >= SMALL else None, [0.0, 0.0])
        cell[0] += counts.get(text, 0)
        cell[1] += runs * mass
    freedom = len(cells) - 1
    if counts.keys() - law.keys():
        return Test(runs, float("inf"), freedom, 0.0)
    statistic = sum((observed - expected) ** 2 / expected for observed, expected in cells.values())
    return Test(runs, statistic, freedom, _beyond(statistic, freedom))


def together(tests: Sequence[Test]) -> Test:
    """Tests of different answers as one."""
    statistic, freedom = sum(test.statistic for test in tests), sum(test.freedom for test in tests)
    return Test(sum(test.runs for test in tests), statistic, freedom, _beyond(statistic, freedom))


def _beyond(statistic: float, freedom: int) -> float:
    """The upper tail of chi-square: the regularised incomplete gamma function Q(freedom / 2, statistic / 2)."""
    if not freedom:  # all in one cell
        return 1.0
    half = torch.tensor([freedom, statistic], dtype=torch.float64) / 2
    return float(torch.special.gammaincc(half[0], half[1]))
