"""The tail of bonus ranks: recovered where there is one, not made up where there is not."""

from __future__ import annotations

import random

import pytest

from sssd_demo.saguaro.power_law import LEAST_RANKS, fit, tail


def ranks_of(c: float, r: float, count: int, seed: int) -> list[int]:
    """Ranks drawn so that P(rank > F) = c · F^−r for F of at least 1."""
    dice = random.Random(seed)
    found = []
    for _ in range(count):
        u = 1 - dice.random()
        found.append(1 if u > c else int((u / c) ** (-1 / r)) + 1)
    return found


@pytest.mark.parametrize(("c", "r"), [(0.3, 0.7), (0.5, 1.0), (0.15, 1.5)])
def test_a_power_law_is_found_again(c: float, r: float):
    law = fit(ranks_of(c, r, 20_000, seed=3))
    assert law is not None
    assert law.c == pytest.approx(c, abs=0.02)
    assert law.r == pytest.approx(r, rel=0.1)
    assert law.missed(4) == pytest.approx(c * 4**-r, rel=0.1)


def test_the_tail_is_told_at_a_few_fan_outs():
    assert tail([1, 1, 2, 3, 9]) == [(1, 0.6), (2, 0.4), (3, 0.2), (4, 0.2), (6, 0.2), (8, 0.2)]
    assert tail([]) == []


def test_a_share_is_never_above_one():
    law = fit([5] * 10 + [3] * 10)
    assert law is not None
    assert law.missed(1) == 1.0


def test_too_few_ranks_or_no_tail_make_no_law():
    assert fit(ranks_of(0.5, 1.0, LEAST_RANKS - 1, seed=1)) is None
    assert fit([1] * 100) is None
    assert fit([1] * 99 + [7]) is None
