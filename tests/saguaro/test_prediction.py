"""Both formulas, their limits, and the quantities they go by."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sssd_demo.saguaro.prediction import Inputs, inputs, ratio
from sssd_demo.saguaro.timeline import measured
from sssd_demo.saguaro.two_devices import asynchronous, synchronous
from tests.toy_saguaro import ALONE, FIRST, HIT, LOOKUP, MESSAGE, MISS, STEP, saguaro_trace, speculative_trace

BASE = Inputs(p=0.8, d=0.5, e_hit=3.0, e_miss=2.0, t_p=0.9, t_b=0.5, s=1.0, verify_ms=20.0)


def test_the_formulas_by_hand():
    assert BASE.against_in_turn == pytest.approx(1.5 / 1.1)
    assert BASE.against_plain == pytest.approx((0.8 * 3 + 0.2 * 2) / (0.8 * 1 + 0.2 * 1.5))


@pytest.mark.parametrize("d", [0.1, 0.5, 1.0, 3.0])
def test_all_hits_save_all_of_drafting_and_none_save_nothing(d: float):
    assert replace(BASE, p=1.0, d=d).against_in_turn == pytest.approx(1 + d)
    assert replace(BASE, p=0.0, d=d).against_in_turn == pytest.approx(1.0)


def test_preparing_that_outlasts_verification_is_waited_for():
    slow = replace(BASE, p=1.0, t_p=1.6)
    assert slow.against_plain == pytest.approx(3.0 / 1.6)


def test_a_slower_verification_can_turn_a_win_into_a_loss():
    assert BASE.should_win
    assert replace(BASE, s=1.39).should_win
    assert not replace(BASE, s=1.41).should_win


def test_the_quantities_are_taken_from_one_clock():
    trace, in_turn = saguaro_trace([FIRST, HIT, HIT, MISS, HIT]), speculative_trace([1, 2, 2])
    ahead, other = measured(trace), measured(in_turn)
    assert ahead is not None
    assert other is not None
    found = inputs(trace, ahead, other)
    assert found is not None
    assert found.p == 0.75
    assert found.d == pytest.approx(2 * STEP / 14)
    assert (found.e_hit, found.e_miss) == (3.0, 2.0)
    assert found.t_p == pytest.approx((4 + 2 * STEP) / 14)
    assert found.t_b == pytest.approx((2 * MESSAGE + LOOKUP + 2 * STEP) / 14)
    assert found.s == pytest.approx(20 / 14)
    assert ratio(ahead, other) == pytest.approx((13 / ahead.total_ms) / (8 / other.total_ms))


def test_on_two_devices_verification_is_not_slowed_and_the_formula_comes_near():
    made = [FIRST, *[HIT, HIT, HIT, MISS] * 12]
    trace, in_turn = saguaro_trace(made), speculative_trace([each.accepted for each in made])
    ahead, other = asynchronous(trace, ALONE, sending_ms=0.0), synchronous(in_turn, ALONE)
    found, won = inputs(trace, ahead, other), ratio(ahead, other)
    assert found is not None
    assert won is not None
    assert found.s == pytest.approx(1.0)
    assert won == pytest.approx(found.against_in_turn, rel=0.06)  # which leaves looking up out


def test_without_a_second_round_nothing_is_predicted():
    trace, in_turn = saguaro_trace([FIRST]), measured(speculative_trace([1]))
    ahead = measured(trace)
    assert ahead is not None
    assert in_turn is not None
    assert inputs(trace, ahead, in_turn) is None
