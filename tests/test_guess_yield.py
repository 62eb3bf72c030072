"""How much a forward brings: counted on recorded drafts, or assumed by a curve."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import pytest

from sssd_demo.guess_yield import AssumedYield, MeasuredYield, assumed_yield, measured_yield
from sssd_demo.length import LengthPlanner
from sssd_demo.roofline import BATCHES, CONTEXTS, LENGTHS, Profile
from sssd_demo.trace import EMPTY_VERIFIED_TREE, ROOT, Fate, Law, Round, Source, Trace, VerifiedTree


def draft(fates: str, scores: tuple[float, ...] = (), chain: bool = True) -> VerifiedTree:
    """A draft of as many nodes as there are letters: a accepted, r refused. A chain, or all children of the root."""
    count = len(fates)
    names: dict[str, Fate] = {"a": "accepted", "r": "rejected"}
    point: Law = "point"
    prompt: Source = "prompt"
    return VerifiedTree(
        tokens=tuple(range(count)),
        parents=tuple(range(ROOT, count - 1)) if chain else (ROOT,) * count,
        probs=scores or (0.9,) * count,
        laws=(point,) * count,
        sources=(prompt,) * count,
        match_lengths=(1,) * count,
        target_probs=(0.5,) * count,
        coins=(None,) * count,
        fates=tuple(names[fate] for fate in fates),
    )


def trace(drafts: list[VerifiedTree], s_q: int, cut: int = 0) -> Trace:
    """An answer drafted with `s_q`, its last `cut` rounds with fewer."""

    def round_(index: int, tree: VerifiedTree) -> Round:
        length = 2 if index > len(drafts) - cut else s_q
        return Round(index, 2, length, 10.0 * index, 0.4, 9.0, tree, 0, 1.0, (0,))

    rounds = [Round(0, 1, 1, 0.0, 0.0, 5.0, EMPTY_VERIFIED_TREE, 0, 1.0, (0,))]
    rounds += [round_(index, tree) for index, tree in enumerate(drafts, start=1)]
    return Trace("", "", "", "", "sssd", {}, (), (1,), {}, tuple(rounds), "length")


def planner(knee: float) -> LengthPlanner:
    """Times are flat up to `knee` tokens in a forward and then grow with them."""
    found = LengthPlanner(bytes_per_weight=2)
    points = {(b, q, c): max(1.0, b * q / knee) for b in BATCHES for q in LENGTHS for c in CONTEXTS}
    found.use(Profile(points, flops=2e10, bandwidth=1e10))
    return found


def test_what_a_shorter_draft_would_have_brought_is_counted_exactly():
    measured = MeasuredYield(((draft("aar"), draft("r"), EMPTY_VERIFIED_TREE),), s_q=16)
    assert [measured.tokens(s_q) for s_q in (1, 2, 3, 4, 16)] == [1, 4 / 3, 5 / 3, 5 / 3, 5 / 3]


def test_a_branch_that_lost_costs_its_place_in_the_draft():
    measured = MeasuredYield(((draft("ra", chain=False),),), s_q=16)
    assert [measured.tokens(s_q) for s_q in (1, 2, 3)] == [1, 1, 2]


def test_rounds_near_an_answers_end_and_too_few_rounds_are_no_measure():
    drafts = [draft("a")] * 30
    found = measured_yield([trace(drafts, 16, cut=5)], 16)
    assert found is not None
    assert found.rounds == 25
    assert found.draft_seconds == pytest.approx((0.4 + 10 - 9.4) / 2 / 1000)  # of one of the two sequences
    assert measured_yield([trace(drafts[:10], 16)], 16) is None
    assert measured_yield([trace(drafts, 8)], 16) is None


def test_a_fixed_length_is_played_through_with_what_the_drafts_really_held():
    measured = MeasuredYield(((draft("aaa"), draft("r")),), s_q=16)
    played = measured.play(planner(64), 4, 1, 64)
    assert played is not None
    assert (played.s_q, played.lowest, played.highest) == (3.0, 2, 4)
    assert played.tokens == (4 + 1) / 2
    assert played.seconds == 1.0


def test_the_longest_draft_decides_what_a_forward_of_a_batch_costs():
    measured = MeasuredYield(((draft("r"),), (draft("aaa"),)), s_q=16)
    played = measured.play(planner(4), 4, 2, 64)
    assert played is not None
    assert played.s_q == 4
    assert played.seconds == 2.0  # eight tokens where four are free
    assert played.tokens == (4 + 1) / 2


def test_goodput_keeps_good_drafts_whole_and_gives_hopeless_ones_up():
    good = MeasuredYield(((draft("a" * 7),) * 10,), s_q=16)
    bad = MeasuredYield(((draft("r" * 7, scores=(0.01,) * 7),) * 10,), s_q=16)
    for_good, for_bad = good.play(planner(8), "auto", 1, 64), bad.play(planner(1), "auto", 1, 64)
    assert for_good is not None
    assert for_bad is not None
    assert for_good.tokens == 8
    assert for_bad.s_q == 1
    assert for_bad.tokens == 1


def test_the_rules_are_the_planners_own():
    measured = MeasuredYield(((draft("a" * 15),) * 4,), s_q=16)
    lengths = planner(8)
    for rule in ("knee", "roofline"):
        played = measured.play(lengths, rule, 2, 64)
        assert played is not None
        assert played.highest == min(16, lengths.most(rule, 2, 64, 1))


def test_more_sequences_than_answers_write_some_of_them_again():
    measured = MeasuredYield(((draft("a"),) * 8, (draft("r"),) * 8), s_q=16)
    played = measured.play(planner(64), 2, 5, 64)
    assert played is not None
    assert played.tokens == 1 + 3 / 5


def test_without_times_there_is_no_plan():
    assert MeasuredYield(((draft("a"),),), 16).play(LengthPlanner(2), "auto", 1, 64) is None
    assert AssumedYield(1.0, 0.5).play(LengthPlanner(2), "auto", 1, 64) is None


def test_an_assumed_curve_goes_through_what_it_was_made_of_and_levels_off():
    curve = AssumedYield.through((8, 2.2), (16, 2.46))
    assert curve.tokens(1) == 1
    assert curve.tokens(8) == pytest.approx(2.2)
    assert curve.tokens(16) == pytest.approx(2.46)
    assert 1.5 < curve.tokens(4) < 2.0
    assert curve.tokens(32) < 2.6


@pytest.mark.parametrize(("near", "far"), [((8, 2.2), (16, 5.0)), ((8, 2.2), (16, 2.1)), ((8, 1.0), (16, 1.0))])
def test_figures_that_no_such_curve_goes_through_are_refused(near: tuple[int, float], far: tuple[int, float]):
    with pytest.raises(ValueError, match="no such curve"):
        AssumedYield.through(near, far)


def test_the_assumption_is_the_projects_own_record(tmp_path: Path):
    with_store, without = assumed_yield(store=True), assumed_yield(store=False)
    assert with_store is not None
    assert without is not None
    assert 1 < without.tokens(8) < with_store.tokens(8) < 4
    assert assumed_yield(store=True, path=tmp_path / "missing.json") is None
    damaged = tmp_path / "damaged.json"
    damaged.write_text(json.dumps({"report": {"report": {"default": {"s_q 8, store": "much"}}}}))
    assert assumed_yield(store=True, path=damaged) is None


def test_the_assumed_goodput_is_the_best_ratio():
    curve, lengths = AssumedYield(2.0, 0.7), planner(4)
    played = curve.play(lengths, "auto", 1, 64)
    assert played is not None
    best = max(range(1, 33), key=lambda s_q: curve.tokens(s_q) / cast(float, lengths.seconds(1, s_q, 64)))
    assert played.s_q == best
