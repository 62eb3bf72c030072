"""Which outcomes are prepared: counts against the formula, children left out, chains and trees."""

import math

import pytest
import torch

from sssd_demo.saguaro.fan_out import Spread, counts, outcomes, rank, sized_budget
from sssd_demo.trace import ROOT, DraftTree
from tests.toys import point_tree

CHAIN = point_tree([3, 1], [ROOT, 0])
# After the root, token 3 and token 1: the likelier the larger the number.
LOGITS = torch.tensor([[0.0, 1, 2, 9, 4, 3], [9, 8, 3, 2, 1, 0], [1, 2, 3, 4, 5, 6]])


def spread(policy="uniform", budget=6, *, acceptance=0.5, exponent=1.0, confidence=0.0):
    return Spread(policy, budget, acceptance, exponent, confidence)


def test_counts_by_hand():
    """a = 1/4, r = 1: F_i ∝ (1/2)^i for i < 2, and F_2 ∝ (1/4) · (3/4)^(−1/2)."""
    shares = [1.0, 0.5, 0.25 / math.sqrt(0.75)]
    exact = [20 * share / sum(shares) for share in shares]
    assert [round(each, 2) for each in exact] == [11.18, 5.59, 3.23]
    assert counts(spread("geometric", 20, acceptance=0.25), 2) == [11, 6, 3]


def test_what_rounding_leaves_goes_to_the_largest_remainders():
    assert counts(spread(budget=6), 2) == [2, 2, 2]
    assert counts(spread(budget=7), 2) == [3, 2, 2]
    assert counts(spread(budget=2), 3) == [1, 1, 0, 0]
    assert counts(spread("geometric", 1, acceptance=0.9), 2) == [0, 0, 1]


@pytest.mark.parametrize("policy", ["uniform", "geometric", "sized"])
@pytest.mark.parametrize("budget", [1, 3, 8, 64])
@pytest.mark.parametrize("acceptance", [0.0, 0.3, 0.8, 1.0])
def test_all_of_the_budget_is_spent(policy, budget, acceptance):
    for k in range(17):
        spent = counts(spread(policy, budget, acceptance=acceptance, exponent=0.4), k)
        assert sum(spent) == budget
        assert len(spent) == k + 1
        assert min(spent) >= 0


def test_the_geometric_counts_miss_least():
    """Against every other way to spend ten outcomes on three places: Σ P(k accepted) · F_k^−r."""
    a, r = 0.6, 0.8
    reached = [1 - a, a * (1 - a), a * a]

    def missed(spent):
        return sum(p * f**-r for p, f in zip(reached, spent, strict=True))

    chosen = missed(counts(spread("geometric", 10, acceptance=a, exponent=r), 2))
    others = [(i, j, 10 - i - j) for i in range(1, 9) for j in range(1, 10 - i)]
    assert chosen <= 1.02 * min(map(missed, others))


def test_the_likeliest_bonuses_of_each_place_without_the_drafted_token():
    assert outcomes(CHAIN, LOGITS, spread()) == [(ROOT, 4), (ROOT, 5), (0, 0), (0, 2), (1, 5), (1, 4)]


def test_nothing_is_left_out_after_a_whole_draft():
    assert [token for node, token in outcomes(CHAIN, LOGITS, spread(budget=9)) if node == 1] == [5, 4, 3]


def test_no_more_outcomes_than_there_are_tokens():
    found = outcomes(CHAIN, LOGITS, spread(budget=64))
    assert len(found) == len(set(found)) == 5 + 5 + 6


def test_by_logits_the_most_probable_outcomes_altogether_with_the_way_to_them():
    laws = LOGITS.softmax(-1)
    reached = {ROOT: 1.0, 0: float(laws[0, 3]), 1: float(laws[0, 3] * laws[1, 1])}
    drafted = {ROOT: [3], 0: [1], 1: []}
    every = {
        (node, token): reached[node] * float(laws[1 + node, token])
        for node in (ROOT, 0, 1)
        for token in range(6)
        if token not in drafted[node]
    }
    best = sorted(every, key=lambda key: -every[key])
    found = outcomes(CHAIN, LOGITS, spread("logits", 5))
    assert set(found) == set(best[:5])
    assert [node for node, _ in found] == sorted(node for node, _ in found)
    confident = outcomes(CHAIN, LOGITS, spread("confident", 64, confidence=0.02))
    assert set(confident) == {key for key, share in every.items() if share >= 0.02}


def test_outcomes_of_a_tree_are_by_node_and_leave_out_all_its_children():
    tree = point_tree([3, 4, 1], [ROOT, ROOT, 0])
    logits = torch.stack([LOGITS[0], LOGITS[1], LOGITS[2], LOGITS[0]])
    found = outcomes(tree, logits, spread("uniform", 100))
    assert len(found) == len(set(found)) == 4 + 5 + 6 + 6
    assert not {(ROOT, 3), (ROOT, 4), (0, 1)} & set(found)
    assert [key for key in outcomes(tree, logits, spread("uniform", 2)) if key[0] == 0] == [(0, 0)]


def test_an_empty_tree_has_outcomes_too():
    assert outcomes(DraftTree(), LOGITS[:1], spread(budget=2)) == [(ROOT, 3), (ROOT, 4)]


def test_the_rank_of_a_bonus_leaves_the_drafted_children_out():
    assert rank(3, LOGITS[0], []) == 1
    assert rank(4, LOGITS[0], []) == 2
    assert rank(4, LOGITS[0], [3]) == 1
    assert rank(0, LOGITS[0], [3, 5]) == 4


def test_the_simple_size_of_the_cache():
    assert sized_budget(1, 0.5, 64) == 19
    assert sized_budget(15, 1.0, 64) == 24
    assert sized_budget(15, 1.0, 10) == 10
