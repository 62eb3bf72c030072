"""Running acceptance: a score is believed until the answer has shown what it is worth."""

import random

import pytest

from sssd_demo.acceptance import Acceptance
from tests.toys import point_tree


def chain(scores):
    tree = point_tree(range(len(scores)), range(-1, len(scores) - 1))
    return type(tree)(**{**{name: getattr(tree, name) for name in tree.__dataclass_fields__}, "probs": tuple(scores)})


def test_before_anything_was_seen_scores_are_probabilities():
    assert Acceptance().expected([0.9, 0.5, 0.01]) == pytest.approx([0, 0.9, 1.4, 1.41])


def test_a_score_above_one_counts_as_certain():
    assert Acceptance().expected([1.5]) == [0, 1]


def test_scores_that_promise_too_much_are_soon_taken_for_what_they_are():
    rng, acceptance = random.Random(0), Acceptance()
    for _ in range(300):
        tree = chain([0.9, 0.6, 0.3])
        path = [node for node, real in enumerate((0.4, 0.6, 0.1)) if rng.random() < real]
        acceptance.observe(tree, path)
    expected = acceptance.expected([0.9, 0.6, 0.3])
    gained = [b - a for a, b in zip(expected, expected[1:], strict=False)]
    assert gained == pytest.approx([0.4, 0.6, 0.1], abs=0.15)


def test_what_was_long_ago_is_outweighed():
    acceptance = Acceptance()
    for _ in range(200):
        acceptance.observe(chain([0.9]), [0])
    for _ in range(100):
        acceptance.observe(chain([0.9]), [])
    assert acceptance.expected([0.9])[1] < 0.4


def test_classes_of_scores_do_not_mix():
    acceptance = Acceptance()
    for _ in range(100):
        acceptance.observe(chain([0.9]), [])
    assert acceptance.expected([0.3])[1] == pytest.approx(0.3)


def test_an_empty_tree_teaches_nothing():
    acceptance = Acceptance()
    for _ in range(50):
        acceptance.observe(chain([0.9]), [])
    before = acceptance.expected([0.9])
    for _ in range(50):
        acceptance.observe(chain([]), [])
    assert acceptance.expected([0.9]) == before
