"""The blended tree against a plain statement of what it should be, and each of its promises alone."""

import itertools
import random
from collections import Counter
from dataclasses import replace

import pytest

from sssd_demo.sssd.blend import Evidence, blend
from sssd_demo.sssd.constants import DEFAULT
from sssd_demo.sssd.sampled import SampledNode
from sssd_demo.trace import ROOT, Top

SETTINGS = replace(DEFAULT, max_children=100, cutoff=0.0, recycled_weight=0.5)


def sampled(runs, match_length=2):
    return SampledNode(token=-1, depth=0, samples=[(match_length, list(run)) for run in runs])


def nothing(tokens):
    return None


def paths(tree):
    found: list[tuple[int, ...]] = []
    for node, token in enumerate(tree.tokens):
        parent = tree.parents[node]
        found.append((*(found[parent] if parent != ROOT else ()), token))
    return found


def plain_probability(path, runs_by_trust, recall, recent, settings):
    """The product along `path` of the estimates, each from the formula of the docstring by counting lists."""
    probability = 1.0
    for depth, token in enumerate(path):
        context = (*recent, *path[:depth])
        top = recall(context[-2:]) or recall(context[-1:])
        estimate = settings.recycled_weight * dict(zip(top.tokens, top.probs, strict=True)).get(token, 0) if top else 0
        for runs, doubt in runs_by_trust:
            here = [run for run in runs if tuple(run[:depth]) == tuple(path[:depth])]
            following = Counter(run[depth] for run in here if len(run) > depth)
            if following:
                estimate = (following[token] + doubt * estimate) / (len(here) + doubt)
        probability *= estimate
    return probability


def test_the_tree_holds_the_most_probable_paths_by_the_plain_formula():
    rng = random.Random(0)
    for _ in range(150):
        runs_by_trust = [
            ([[rng.randrange(3) for _ in range(rng.randint(1, 4))] for _ in range(rng.randint(1, 8))], rng.random() * 3)
            for _ in range(rng.randint(0, 3))
        ]
        memory = {
            key: Top((0, 1, 2), (0.5, 0.3, 0.1))
            for key in [*itertools.product(range(3), repeat=2), (0,), (1,)]
            if rng.random() < 0.5
        }
        recent = (rng.randrange(3), rng.randrange(3))
        evidence = [Evidence(sampled(runs), 2, doubt) for runs, doubt in runs_by_trust]
        s_q = rng.randint(2, 12)
        tree = blend(evidence, memory.get, recent, s_q, SETTINGS)
        every = {
            path: plain_probability(path, runs_by_trust, memory.get, recent, SETTINGS)
            for length in range(1, 6)
            for path in itertools.product(range(3), repeat=length)
        }
        possible = [path for path, probability in every.items() if probability > 0]
        shallow = [path for path in paths(tree) if len(path) < 6]
        assert len(set(paths(tree))) == len(tree)
        assert len(tree) == s_q - 1 or len(tree) >= len(possible)
        for path, probability in zip(paths(tree), tree.probs, strict=True):
            assert probability == pytest.approx(plain_probability(path, runs_by_trust, memory.get, recent, SETTINGS))
        left_out = [probability for path, probability in every.items() if path not in shallow]
        if len(tree) == s_q - 1:
            assert min(tree.probs) >= max(left_out) - 1e-9


def test_a_shorter_tree_is_the_beginning_of_a_longer_one():
    runs = [[1, 2, 3], [1, 2, 4], [5, 6], [1, 7]]
    long = blend([Evidence(sampled(runs), 2, 1.0)], nothing, (0, 0), 8, SETTINGS)
    short = blend([Evidence(sampled(runs), 2, 1.0)], nothing, (0, 0), 4, SETTINGS)
    assert short == long.first(3)
    assert list(long.probs) == sorted(long.probs, reverse=True)


def test_agreement_counts_more_than_either_source_alone():
    one = Evidence(sampled([[1], [1], [2], [2]]), 1, 1.0)
    other = Evidence(sampled([[1], [3]]), 3, 1.0)
    tree = blend([one, other], nothing, (0, 0), 4, SETTINGS)
    assert tree.tokens[0] == 1


def test_the_more_trusted_evidence_speaks_last_and_names_the_node():
    weak, strong = Evidence(sampled([[1]] * 9, 1), 1, 1.0), Evidence(sampled([[2]] * 9, 4), 4, 1.0)
    tree = blend([weak, strong], nothing, (0, 0), 3, SETTINGS)
    assert (tree.tokens, tree.match_lengths) == ((2, 1), (4, 1))


def test_a_rare_match_is_believed_less_than_a_frequent_one():
    rare = blend([Evidence(sampled([[1]]), 2, 2.0)], nothing, (0, 0), 2, SETTINGS)
    frequent = blend([Evidence(sampled([[1]] * 20), 2, 2.0)], nothing, (0, 0), 2, SETTINGS)
    assert rare.probs[0] == pytest.approx(1 / 3)
    assert frequent.probs[0] == pytest.approx(20 / 22)


def test_what_the_target_held_likely_drafts_where_nothing_matched():
    memory = {(8, 9): Top((4, 5), (0.8, 0.1)), (4,): Top((6,), (0.9,))}
    tree = blend([], memory.get, (8, 9), 4, replace(SETTINGS, recycled_weight=1.0))
    assert paths(tree) == [(4,), (4, 6), (5,)]
    assert tree.sources == ("recycled",) * 3
    assert tree.match_lengths == (2, 1, 2)


def test_hopeless_nodes_are_left_out():
    runs = [[1]] * 99 + [[2]]
    tree = blend([Evidence(sampled(runs), 2, 0.0)], nothing, (0, 0), 8, replace(SETTINGS, cutoff=0.05))
    assert tree.tokens == (1,)


def test_without_any_evidence_there_is_no_tree():
    assert len(blend([], nothing, (0, 0), 8, SETTINGS)) == 0
    assert len(blend([Evidence(sampled([[]]), 2, 1.0)], nothing, (0, 0), 8, SETTINGS)) == 0
