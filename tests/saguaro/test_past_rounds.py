"""What past rounds lead to: rolling back, how outcomes are spread, and how long drafts are."""

import pytest

from sssd_demo.saguaro.bent_law import RANKS
from sssd_demo.saguaro.past_rounds import MEMORY, PATIENCE, RESTING, PastRounds, Window


def test_misses_in_a_row_and_only_those_roll_back():
    past = PastRounds(3)
    for found in (False, False, True, False, False):
        past.looked_up(found)
    assert not past.resting
    past.looked_up(False)
    assert past.resting == RESTING
    never = PastRounds(0)
    for _ in range(50):
        never.looked_up(False)
    assert not never.resting
    assert never.hit_rate == 0.0


def test_the_hit_rate_is_that_of_the_last_rounds():
    past = PastRounds(0)
    assert past.hit_rate == 0.7
    for found in [False] * 40 + [True] * (MEMORY // 2):
        past.looked_up(found)
    assert past.hit_rate == 0.5


def test_shares_of_ranks_are_of_bonuses_after_a_refusal():
    past = PastRounds(0)
    for rank in (1, 1, 2, 1, 3, 1, 1):
        past.ranked(rank, refused=True)
    assert past.shares == ()
    past.ranked(RANKS + 5, refused=True)
    past.ranked(9, refused=False)
    assert past.whole.total == 1
    assert past.shares == (5 / 8, 1 / 8, 1 / 8) + (0.0,) * (RANKS - 3)


def test_the_expected_hit_rate_weighs_how_drafts_end_with_how_bonuses_ranked():
    past = PastRounds(0)
    a = past.acceptance.value
    assert past.expected_hits([0, 0, 0]) == 0.0
    assert past.expected_hits([1, 1, 1]) == pytest.approx((1 - a) * 0.5 + a * (1 - a) * 0.5 + a * a * a)
    assert past.expected_hits([0, 0, 1]) < past.expected_hits([0, 0, 2]) < past.expected_hits([0, 1, 2]) < 1
    for _ in range(4000):
        past.acceptance.observe(2, 1)  # half of what is tested is refused
        past.ranked(2, refused=True)
        past.ranked(1, refused=False)
    assert past.acceptance.value == pytest.approx(0.5, abs=0.02)
    assert past.expected_hits([1, 1, 1]) == pytest.approx(0.25, abs=0.02)
    assert past.expected_hits([2, 0, 1]) == pytest.approx(0.75, abs=0.02)
    assert past.expected_hits([2, 2, 1]) == pytest.approx(1.0, abs=0.02)


def test_the_exponent_falls_with_the_ranks_that_were_seen():
    near, far = PastRounds(0), PastRounds(0)
    for _ in range(200):
        near.ranked(1, refused=False)
        far.ranked(20, refused=False)
    assert far.exponent < 0.5 < 1.5 < near.exponent


def test_the_window_follows_hits_acceptance_and_time_and_stays_within_its_bounds():
    def after(rounds, *, accepted, hit_rate, k=3, latency=None, ms=10.0):
        window = Window(k, 8, latency)
        for _ in range(rounds):
            window.observe(window.k, round(accepted * window.k), ms, hit_rate)
        return window.k

    assert after(PATIENCE - 1, accepted=1, hit_rate=1.0) == 3
    assert after(PATIENCE, accepted=1, hit_rate=1.0) == 4
    assert after(100, accepted=1, hit_rate=1.0) == 8
    assert after(PATIENCE, accepted=1, hit_rate=0.4) == 2
    assert after(100, accepted=0, hit_rate=1.0) == 1
    assert after(100, accepted=1, hit_rate=0.6) == 3
    assert after(PATIENCE, accepted=1, hit_rate=1.0, latency=9.0) == 2
    assert after(PATIENCE, accepted=1, hit_rate=1.0, latency=11.0) == 4
