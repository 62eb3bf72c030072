"""Plans of throughput and latency from a profile and a yield."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sssd_demo.guess_yield import AssumedYield
from sssd_demo.length_plan import OFF, RULES, averaged, plan
from sssd_demo.roofline import BATCHES, CONTEXTS, LENGTHS, Profile

FLAT = Profile({(b, q, c): 0.02 for b in BATCHES for q in LENGTHS for c in CONTEXTS}, flops=3e11, bandwidth=1e11)
STEEP = Profile({(b, q, c): 0.02 * b * q for b in BATCHES for q in LENGTHS for c in CONTEXTS})
HALF = AssumedYield(a=1.0, r=0.5, draft_seconds=0.001)


def test_plain_decoding_brings_a_token_of_each_sequence():
    found = plan(FLAT, 2, None, OFF, 8, 64)
    assert found is not None
    assert found.tokens_per_second == pytest.approx(8 / 0.02)
    assert found.ms_per_token == pytest.approx(20)


def test_a_rule_is_planned_with_the_drafting_of_the_whole_batch():
    found = plan(FLAT, 2, HALF, "roofline", 1, 64)
    assert found is not None
    assert found.played.s_q == 3
    assert found.round_seconds == pytest.approx(0.021)
    assert found.tokens_per_second == pytest.approx(HALF.tokens(3) / 0.021)
    assert found.ms_per_token == pytest.approx(21 / HALF.tokens(3))
    four = plan(FLAT, 2, HALF, "auto", 4, 64)
    assert four is not None
    assert four.round_seconds == pytest.approx(0.024)


def test_where_nothing_is_free_goodput_switches_off_but_drafting_still_costs():
    found = plan(STEEP, 2, HALF, "auto", 4, 64)
    plain = plan(STEEP, 2, None, OFF, 4, 64)
    assert found is not None
    assert plain is not None
    assert found.played.s_q == 1
    assert 0.9 < found.tokens_per_second / plain.tokens_per_second < 1


def test_what_is_not_known_is_not_planned():
    assert plan(Profile({}), 2, HALF, "auto", 1, 64) is None
    assert plan(FLAT, 2, None, "auto", 1, 64) is None
    assert plan(replace(FLAT, flops=None), 2, HALF, "roofline", 1, 64) is None
    assert plan(replace(FLAT, flops=None), 2, HALF, "knee", 1, 64) is not None


def test_all_three_rules_are_planned_for_any_batch_of_the_slider():
    for batch in (1, 7, 33, 64):
        assert all(plan(FLAT, 2, HALF, rule, batch, 300) is not None for rule in RULES)


def test_a_text_that_grows_is_planned_by_its_stretches():
    short, long = plan(FLAT, 2, HALF, 4, 2, 64), plan(FLAT, 2, HALF, 4, 2, 128)
    assert short is not None
    assert long is not None
    slow = replace(long, played=replace(long.played, seconds=0.06, s_q=2))
    found = averaged({short: 3, slow: 1})
    assert found.played.seconds == pytest.approx(0.03)
    assert found.played.s_q == pytest.approx((3 * 4 + 2) / 4)
    assert found.context == 80
    assert found.played.tokens == short.played.tokens
    assert averaged({short: 5}) == short
