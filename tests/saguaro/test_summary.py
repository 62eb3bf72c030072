"""Figures about the speculation cache, worked out by hand on made traces."""

from __future__ import annotations

import pytest

from sssd_demo.saguaro.summary import Tally, summarise_cache
from sssd_demo.trace import Span
from tests.toy_saguaro import (
    FIRST,
    HIT,
    LOOKUP,
    MESSAGE,
    MISS,
    NGRAMS,
    STEP,
    VERIFY,
    Made,
    saguaro_trace,
    speculative_trace,
)

ROLLED_BACK = Made(1, hit=False, why="rolled back", fallback="immediate", rank=None)
LATE = Made(0, hit=False, why="late", fallback="backup", rank=None)
HIT_WAIT, MISS_WAIT = 2 * MESSAGE + LOOKUP, 2 * MESSAGE + LOOKUP + 2 * STEP


def test_the_first_round_is_not_in_the_hit_rate_and_rolled_back_ones_are_and_are_counted_apart():
    summary = summarise_cache([saguaro_trace([FIRST, HIT, HIT, MISS, ROLLED_BACK, HIT])])
    assert summary is not None
    assert summary.all == Tally(3, 5)
    assert summary.hit_rate == 0.6
    assert summary.rolled_back == 1
    assert summary.prepared == Tally(3, 4)


def test_hits_are_told_by_the_number_accepted_and_by_how_many_guesses_there_were_for_it():
    wide = Made(2, fan_out=3, rank=3)
    summary = summarise_cache([saguaro_trace([FIRST, HIT, HIT, MISS, wide, wide])])
    assert summary is not None
    assert summary.by_k == {1: Tally(2, 2), 2: Tally(2, 3)}  # by what was accepted before
    assert summary.by_fan_out == {2: Tally(2, 3), 3: Tally(2, 2)}


def test_an_outcome_for_which_nothing_was_prepared_has_a_fan_out_of_zero():
    none = Made(1, hit=False, why="miss", fallback="immediate", fan_out=0)
    one_key = saguaro_trace([FIRST, HIT, none])
    work = one_key.rounds[3].saguaro
    assert work is not None
    object.__setattr__(work, "keys", ((0, 5),))  # for another number accepted
    summary = summarise_cache([one_key])
    assert summary is not None
    assert summary.by_fan_out[0] == Tally(0, 1)


def test_ranks_fallbacks_and_reasons_are_listed():
    summary = summarise_cache([saguaro_trace([FIRST, HIT, MISS, LATE])])
    assert summary is not None
    assert summary.ranks == (1, 5)
    assert summary.unranked == 1
    assert summary.fallbacks == {"immediate": 2, "backup": 1}
    assert summary.reasons == {"first": 1, "miss": 1, "late": 1}
    assert summary.ngrams_ms == pytest.approx(NGRAMS)  # for the late one
    assert summary.ngrams_exposed_ms == pytest.approx(NGRAMS)


@pytest.mark.parametrize(
    ("began", "exposed"),
    [
        pytest.param(-3.0, 0.0, id="while the drafter was at work"),
        pytest.param(-0.5, 1.5, id="partly"),
        pytest.param(1.0, 2.0, id="afterwards"),
    ],
)
def test_ngrams_are_exposed_from_the_moment_the_drafter_is_done(began: float, exposed: float):
    trace = saguaro_trace([FIRST, HIT])
    work = trace.rounds[2].saguaro
    assert work is not None
    done = max(span.end_ms for span in work.spans if span.who == "drafter")
    ngrams = Span("target", "backup", done + began, done + began + 2.0)
    object.__setattr__(work, "spans", (*work.spans, ngrams))
    summary = summarise_cache([trace])
    assert summary is not None
    assert summary.ngrams_ms == pytest.approx(2.0)
    assert summary.ngrams_exposed_ms == pytest.approx(exposed)


def test_waiting_and_latency_are_split_by_hit_and_miss():
    summary = summarise_cache([saguaro_trace([FIRST, HIT, HIT, MISS, HIT])])
    assert summary is not None
    first = 2 * MESSAGE + 2 * STEP
    assert summary.wait_ms == pytest.approx(first + 3 * HIT_WAIT + MISS_WAIT)
    assert summary.hit_latency.p50 == pytest.approx(HIT_WAIT + VERIFY)
    assert summary.miss_latency.p95 == pytest.approx(MISS_WAIT + VERIFY)
    assert summary.miss_latency.rounds == 1


def test_busy_shares_leave_waiting_out():
    summary = summarise_cache([saguaro_trace([FIRST, HIT])])
    assert summary is not None
    lasted = 2 * MESSAGE + 2 * STEP + VERIFY + HIT_WAIT + VERIFY
    assert summary.target_busy == pytest.approx(2 * VERIFY / lasted)
    assert summary.drafter_busy == pytest.approx((2 * STEP + 4 + 2 * STEP + LOOKUP) / lasted)


def test_two_answers_are_summed_up_as_one():
    trace = saguaro_trace([FIRST, HIT, MISS])
    summary = summarise_cache([trace, trace])
    assert summary is not None
    assert summary.all == Tally(2, 4)


def test_other_methods_have_no_such_figures():
    assert summarise_cache([speculative_trace([1, 2])]) is None


def test_what_cannot_be_known_is_none():
    summary = summarise_cache([saguaro_trace([FIRST])])
    assert summary is not None
    assert summary.hit_rate is None
    assert summary.hit_latency.p50 is None
