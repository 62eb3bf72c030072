"""Lossless, proved: the law of the emitted tokens is the target's, by exact counting and through production code.

All probabilities of the toy target are multiples of 1/GRID. A coin at the middle of each of the GRID stretches
therefore stands for all coins of that stretch, so enumerating the stretches of every position is enumerating the
unit cube: the law comes out as an exact fraction.
"""

import itertools
import random
from collections import Counter
from fractions import Fraction
from functools import partial

import pytest
import torch

from sssd_demo.coins import Coins
from sssd_demo.sampling import Sampling
from sssd_demo.trace import EMPTY_TREE, ROOT
from sssd_demo.verify import Case, cut, verify
from tests.toys import point_tree

GRID = 6
VOCABULARY = 3
LENGTH = 3  # tokens whose joint law is compared: the deepest tree's path and its bonus
SAMPLING = Sampling(temperature=1.0)

# One law for each of the last token's three values and, so that context beyond it matters, the text's parity.
TABLE = {
    (0, 0): (3, 2, 1),
    (1, 0): (0, 6, 0),
    (2, 0): (1, 0, 5),
    (0, 1): (2, 2, 2),
    (1, 1): (5, 1, 0),
    (2, 1): (0, 3, 3),
}

TREES = {
    "empty": EMPTY_TREE,
    "one candidate": point_tree([0], [ROOT]),
    "chain": point_tree([1, 0], [ROOT, 0]),
    "branches": point_tree([0, 1, 2, 0, 2], [ROOT, ROOT, 0, 1, 1]),
    "every child": point_tree([0, 1, 2, 0, 1, 2], [ROOT, ROOT, ROOT, 0, 0, 0]),
    "duplicates": point_tree([1, 1, 0, 2, 0], [ROOT, ROOT, ROOT, 0, 1]),
    "impossible candidates": point_tree([1, 2, 0], [ROOT, 0, 1]),
}


def weights(text):
    return TABLE[text[-1], len(text) % 2]


def logits_after(text):
    return torch.tensor(weights(text), dtype=torch.float64).div(GRID).log()


def tree_logits(text, tree):
    paths = [text] + [text + tuple(tree.tokens[step] for step in tree.path_to(node)) for node in range(len(tree))]
    return torch.stack([logits_after(path) for path in paths])


class PositionCoins:
    """Coins of a test; point-mass trees need no others."""

    def __init__(self, coin):
        self.position = coin

    def residual(self, position):
        raise AssertionError

    def accept(self, root_position, node):
        raise AssertionError


def judge(tree, logits, sampling, position, coin):
    (verdict,) = verify([Case(tree, sampling, position, PositionCoins(coin))], logits[None])
    return verdict


def production(tree, text, coin):
    verdict = judge(tree, tree_logits(text, tree), SAMPLING, len(text), coin)
    return tuple(tree.tokens[node] for node in verdict.path) + (verdict.bonus,)


def inverse_cdf(law, coin):
    total = 0
    for token, weight in enumerate(law):
        total += weight
        if coin * GRID < total:
            return token
    raise AssertionError


def accept_everything(tree, text, coin):
    """Seeded bug: the first branch is taken whatever the target says."""
    tokens: tuple[int, ...] = ()
    node, children = ROOT, tree.children()
    while node in children:
        node = children[node][0]
        tokens += (tree.tokens[node],)
    return (*tokens, inverse_cdf(weights(text + tokens), coin(len(text) + len(tokens))))


def one_coin_for_all_depths(tree, text, coin):
    """Seeded bug: the root's coin decides the whole path."""
    return production(tree, text, lambda position: coin(len(text)))


def running_sum_with_duplicates(tree, text, coin):
    """Seeded bug: one coin against the running sum of the children's probabilities, duplicates counted twice."""
    tokens: tuple[int, ...] = ()
    node, children = ROOT, tree.children()
    while True:
        law, u = weights(text + tokens), coin(len(text) + len(tokens)) * GRID
        total, following = 0, None
        for child in children.get(node, []):
            total += law[tree.tokens[child]]
            if u < total:
                following = child
                break
        if following is None:
            refused = {tree.tokens[child] for child in children.get(node, [])}
            rest = [0 if token in refused else weight for token, weight in enumerate(law)]
            if not sum(rest):
                rest = list(law)
            scaled = (u - total) / (GRID - total) if total < GRID else 0.5
            running = list(itertools.accumulate(rest))
            return (*tokens, next(token for token, mass in enumerate(running) if scaled * running[-1] < mass))
        node = following
        tokens += (tree.tokens[node],)


def refuse_without_residual(tree, text, coin):
    """Seeded bug: a candidate is tested by p, then the bonus is drawn from p again as if nothing had been refused."""
    tokens: tuple[int, ...] = ()
    node, children = ROOT, tree.children()
    while True:
        law, u = weights(text + tokens), coin(len(text) + len(tokens)) * GRID
        following = next((child for child in children.get(node, []) if u < law[tree.tokens[child]]), None)
        if following is None:
            return (*tokens, inverse_cdf(law, (coin(len(text) + len(tokens)) * 7) % 1))
        node = following
        tokens += (tree.tokens[node],)


def grid_coin(coins, start, position):
    """The coin of `position`; what lies beyond the compared tokens does not matter."""
    return float(coins[position - start]) if position - start < LENGTH else 0.5


def joint_law(rule, tree, start=(0,)):
    """Exact law of the first LENGTH tokens when every round drafts `tree` cut to what is still to be written."""
    counts: Counter[tuple[int, ...]] = Counter()
    middles = [Fraction(2 * step + 1, 2 * GRID) for step in range(GRID)]
    for coins in itertools.product(middles, repeat=LENGTH):
        text = start
        while len(text) < len(start) + LENGTH:
            drafted = tree if len(text) == len(start) else EMPTY_TREE
            text += rule(drafted, text, partial(grid_coin, coins, len(start)))
        counts[text[len(start) : len(start) + LENGTH]] += 1
    return {text: Fraction(count, GRID**LENGTH) for text, count in counts.items()}


def target_law(start=(0,)):
    law = {}
    for text in itertools.product(range(VOCABULARY), repeat=LENGTH):
        mass = Fraction(1)
        for step, token in enumerate(text):
            mass *= Fraction(weights(start + text[:step])[token], GRID)
        if mass:
            law[text] = mass
    return law


@pytest.mark.parametrize("name", TREES)
def test_point_mass_trees_have_exactly_the_targets_law(name):
    assert joint_law(production, TREES[name]) == target_law()


@pytest.mark.parametrize(
    ("bug", "name"),
    [
        (accept_everything, "chain"),
        (one_coin_for_all_depths, "branches"),
        (running_sum_with_duplicates, "duplicates"),
        (refuse_without_residual, "branches"),
    ],
)
def test_a_seeded_bug_fails_the_same_proof(bug, name):
    assert joint_law(bug, TREES[name]) != target_law()


def test_drafts_change_no_token_of_the_text_when_coins_are_keyed_by_position():
    for seed in range(20):
        texts = set()
        for tree in TREES.values():
            text = (0,)
            while len(text) < 9:
                text += production(tree, text, Coins(seed).position)
            texts.add(text[:9])
        assert len(texts) == 1


def sampled_pairs(runs, coin_of):
    """Counts of the first two tokens over `runs` seeds, drafted with branches."""
    counts: Counter[tuple[int, ...]] = Counter()
    for seed in range(runs):
        text: tuple[int, ...] = (0,)
        while len(text) < 3:
            drafted = TREES["branches"] if len(text) == 1 else EMPTY_TREE
            text += production(drafted, text, partial(coin_of, seed))
        counts[text[1:3]] += 1
    return counts


def chi_square(counts, runs):
    """Pearson's statistic against the target's law of the first two tokens; impossible pairs count as infinite."""
    law: Counter[tuple[int, ...]] = Counter()
    for text, mass in target_law().items():
        law[text[:2]] += mass
    if set(counts) - set(law):
        return float("inf")
    return sum((counts[text] - runs * mass) ** 2 / (runs * mass) for text, mass in law.items())


# 99.99 % point of chi-square with 5 degrees of freedom: six pairs of tokens are possible.
CRITICAL = 25.74
RUNS = 4000


def test_the_production_coins_give_the_targets_law():
    assert chi_square(sampled_pairs(RUNS, lambda seed, position: Coins(seed).position(position)), RUNS) < CRITICAL


@pytest.mark.parametrize(
    "coin_of",
    [
        lambda seed, position: Coins(seed).position(0),  # one coin for all positions
        lambda seed, position: Coins(seed).position(position) ** 1.2,  # not uniform
    ],
)
def test_bad_coins_fail_the_same_statistic(coin_of):
    assert chi_square(sampled_pairs(RUNS, coin_of), RUNS) > CRITICAL


def test_a_recorded_coin_below_the_recorded_probability_is_what_accepted_means():
    rng = random.Random(3)
    for seed in range(300):
        tree = rng.choice([TREES["chain"], TREES["branches"], TREES["every child"]])
        text = (0,) * rng.randint(1, 4)
        coin = Coins(seed).position
        verdict = judge(tree, tree_logits(text, tree), SAMPLING, len(text), coin)
        for fate, u, p in zip(verdict.tree.fates, verdict.tree.coins, verdict.tree.target_probs, strict=True):
            assert (u is None) == (fate == "ignored")
            if u is not None:
                assert (u < p) == (fate == "accepted")


def test_greedy_descends_by_the_targets_argmax_and_rejects_the_siblings():
    tree = point_tree([2, 1, 0, 1, 2], [ROOT, ROOT, 1, 1, 2])
    logits = torch.tensor([[0.0, 3, 1], [9, 0, 0], [1, 0, 0], [0, 0, 1], [5, 5, 0], [0, 1, 0]])
    verdict = judge(tree, logits, Sampling(), 7, coin=lambda position: pytest.fail("greedy needs no coin"))
    assert verdict.path == (1, 2, 4)
    assert verdict.bonus == 1
    assert verdict.tree.fates == ("rejected", "accepted", "accepted", "rejected", "accepted")
    assert verdict.tree.coins == (None,) * 5
    assert verdict.bonus_prob == pytest.approx(logits[5].softmax(-1)[1].item())
    assert verdict.tree.target_probs[0] == pytest.approx(logits[0].softmax(-1)[2].item())


def test_nodes_below_a_refused_node_are_ignored():
    tree = point_tree([0, 1, 1], [ROOT, 0, 1])
    verdict = judge(tree, torch.tensor([[0.0, 1, 0]] * 4), Sampling(), 1, coin=lambda position: 0.0)
    assert verdict.tree.fates == ("rejected", "ignored", "ignored")


def test_a_zero_coin_never_draws_an_impossible_token():
    logits = torch.tensor([[float("-inf"), 0.0, 0.0]])
    verdict = judge(EMPTY_TREE, logits, SAMPLING, 1, coin=lambda position: 0.0)
    assert verdict.bonus == 1
    verdict = judge(EMPTY_TREE, logits.flip(-1), SAMPLING, 1, coin=lambda position: 1 - 2**-52)
    assert verdict.bonus == 1


def accepted_chain(*tokens):
    tree = point_tree(tokens, range(-1, len(tokens) - 1))
    logits = torch.full((len(tokens) + 1, 10), 0.0)
    for row, token in enumerate(tokens):
        logits[row, token] = 5.0
    logits[-1, 9] = 5.0
    return judge(tree, logits, Sampling(), 1, coin=lambda position: 0.0)


def test_an_answer_ends_at_end_of_text_in_the_middle_of_a_draft():
    """cases.md 1: what follows an accepted end-of-text is neither committed nor counted as accepted."""
    verdict, committed = cut(accepted_chain(4, 2, 5, 6), limit=20, end_tokens=frozenset({2}))
    assert committed == (4, 2)
    assert verdict.path == (0, 1)
    assert verdict.tree.fates == ("accepted", "accepted", "ignored", "ignored")


def test_an_answer_ends_at_its_limit_exactly():
    verdict, committed = cut(accepted_chain(4, 3, 5), limit=2, end_tokens=frozenset())
    assert committed == (4, 3)
    assert verdict.tree.fates == ("accepted", "accepted", "ignored")


def test_a_whole_round_within_the_limit_is_left_alone():
    whole = accepted_chain(4, 3)
    assert cut(whole, limit=3, end_tokens=frozenset({9})) == (whole, (4, 3, 9))


def test_each_fate_follows_from_coin_and_probability_though_float32_adds_up_to_nearly_one():
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(64, 2, 1000, generator=generator)
    masses = logits[:, 0].softmax(-1).double().sum(-1)
    row = logits[int(masses.argmin())]
    mass, p = float(masses.min()), float(row[0].softmax(-1)[0])
    assert mass < 1 - 1e-8
    edge = (p + p / mass) / 2  # below p / mass, so the draw is token 0, yet above p
    verdict = judge(point_tree([0], [ROOT]), row, SAMPLING, 1, lambda position: edge)
    assert verdict.tree.fates == ("accepted",)
    coin = verdict.tree.coins[0]
    assert coin is not None
    assert coin < verdict.tree.target_probs[0]
