"""What a comparison's answers come to, by hand-made traces."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sssd_demo.compare.comparison import Comparison, Cost, Run
from sssd_demo.compare.figures import Difference, Place, lane_figures
from sssd_demo.compare.plan import Lane, Plan, Step
from sssd_demo.trace import Law, Round, Trace
from tests.compare.fakes import CompareService, compared, plan
from tests.ui.fakes import make_trace

TEXT = "The cat sat on the mat. " * 4


def timed(trace: Trace, factor: float) -> Trace:
    """The same answer, written `factor` times as fast."""
    rounds = trace.rounds
    zero = rounds[0].start_ms

    def faster(round_: Round) -> Round:
        start = zero + (round_.start_ms - zero) / factor
        return replace(round_, start_ms=start, draft_ms=round_.draft_ms / factor, verify_ms=round_.verify_ms / factor)

    return replace(trace, rounds=tuple(map(faster, rounds)))


def comparison(plan: Plan, runs: list[tuple[Step, Trace]]) -> Comparison:
    return Comparison(
        plan=plan,
        created="2025-11-29T16:20:00+00:00",
        device="test bench, 2 threads",
        dtype="float32",
        preset="fake-1b",
        costs=(Cost(False),) * len(plan.lanes),
        runs=tuple(Run(step, trace, 1, shared=False) for step, trace in runs),
    )


def plain(text: str = TEXT) -> Trace:
    return make_trace("say", text, method="autoregressive")


def test_a_ratio_is_that_of_two_measurements_of_the_same_question_in_the_same_repeat():
    base = plain()
    runs = [
        (Step(0, 0, 0), base),
        (Step(0, 0, 1), timed(base, 2.0)),
        (Step(1, 0, 0), timed(base, 4.0)),
        (Step(1, 0, 1), timed(base, 4.0)),
    ]
    yardstick, lane = lane_figures(comparison(plan(repeats=2), runs))
    assert lane.ratio is not None
    assert (lane.ratio.p25, lane.ratio.median, lane.ratio.p75) == pytest.approx((1.25, 1.5, 1.75))
    assert yardstick.ratio is not None
    assert yardstick.ratio.median == 1.0


def test_an_answer_without_the_yardsticks_is_not_counted():
    base = plain()
    runs = [(Step(0, 0, 0), base), (Step(0, 0, 1), base), (Step(1, 0, 1), timed(base, 9.0))]
    lane = lane_figures(comparison(plan(repeats=2), runs))[1]
    assert lane.answers == 1
    assert lane.ratio is not None
    assert lane.ratio.median == pytest.approx(1.0)
    assert lane_figures(comparison(plan(), [(Step(0, 0, 1), base)])) == []


def test_counts_are_summed_and_shares_by_place_are_of_rounds_that_guessed_so_far():
    whole = compared(CompareService(), plan("a", "b"))
    lane = lane_figures(whole)[1]
    summaries = [run.summary for run in whole.runs if run.step.lane == 1]
    assert lane.drafted == sum(summary.drafted for summary in summaries)
    assert lane.drafted == lane.accepted + lane.rejected + lane.ignored
    first = Place(
        sum(summary.drafted_by_position[0] for summary in summaries),
        sum(summary.accepted_by_position[0] for summary in summaries),
    )
    assert lane.places[0] == first
    assert 0 < first.share <= 1


def test_the_same_tokens_are_no_difference_and_the_first_other_one_is_told_with_both_probabilities():
    base = plain("The cat sat on the mat.")
    other = plain("The cat sat on cat mat.")
    runs = [(Step(0, 0, 0), base), (Step(0, 0, 1), other), (Step(0, 0, 2), base)]
    lanes = (Lane("sssd"), Lane("rest"))
    _, differs, same = lane_figures(comparison(plan(lanes=lanes), runs))
    assert same.differences == ()
    place = 4  # The · cat · sat · on · …
    assert differs.differences == (
        Difference((0, 0), place, other.token_ids()[place], 0.81, base.token_ids()[place], 0.81),
    )
    assert differs.differences[0].gap == 0.0


def test_an_answer_that_ended_sooner_differs_where_it_ended():
    base = plain("The cat sat.")
    shorter = replace(base, rounds=base.rounds[:3])
    runs = [(Step(0, 0, 0), base), (Step(0, 0, 1), shorter)]
    (difference,) = lane_figures(comparison(plan(), runs))[1].differences
    assert difference.position == len(shorter.token_ids())
    assert difference.token is None
    assert difference.p is None
    assert difference.gap is None
    assert difference.plain_token == base.token_ids()[difference.position]


def test_a_lane_whose_drafts_were_drawn_promises_the_law_and_its_text_is_not_compared():
    base = plain()
    drawn = make_trace("say", TEXT.replace("cat", "dog"), method="speculative")
    law: Law = "sampled"
    rounds = tuple(
        replace(each, tree=replace(each.tree, laws=(law,) * len(each.tree))) if len(each.tree) else each
        for each in drawn.rounds
    )
    runs = [(Step(0, 0, 0), base), (Step(0, 0, 1), replace(drawn, rounds=rounds))]
    lane = lane_figures(comparison(plan(lanes=(Lane("speculative"),)), runs))[1]
    assert lane.law_only
    assert lane.differences == ()
