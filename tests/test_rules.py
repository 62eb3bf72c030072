"""Lossless, proved: the joint law of the tokens that each rule emits is the target's, by counting all outcomes.

`python -m tests.proofs` prints the same verdicts as tables.
"""

from dataclasses import replace
from fractions import Fraction

import pytest

from sssd_demo.rules import block, top_down, traversal
from tests.proofs.altered_rules import Altered, last_ratio_uncapped
from tests.proofs.controls import CONTROLS
from tests.proofs.exact import HONEST, Method, Setup, distance, expected_accepted, played, target_law
from tests.proofs.lengths import QUESTIONS, answer
from tests.proofs.setups import CHAINS, LINES, WITH_REPLACEMENT
from tests.proofs.verdicts import expose, prove
from tests.proofs.worlds import KINDS, World
from tests.proofs.wrong_coins import DraftsByPositionAlone, TestsByPositionAlone


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.name)
def test_the_law_of_what_is_emitted_is_exactly_the_targets(line):
    verdict = prove(line)
    assert verdict.cases > 100
    assert not verdict.wrong


@pytest.mark.parametrize("control", CONTROLS, ids=lambda control: f"{control.line.name}: {control.bug}")
def test_a_seeded_bug_fails_the_same_proof(control):
    assert expose(control).wrong


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.name)
def test_every_rule_has_seeded_bugs_of_its_own(line):
    assert sum(control.line == line for control in CONTROLS) >= 2


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_the_better_rule_never_accepts_less(question):
    found = answer(question, seeds=2)
    assert found.less == 0
    assert found.more or question.than is block  # which traversal equals on chains


def outcome_law(setup):
    """How often each text is emitted by the first round."""
    law: dict[tuple[int, ...], Fraction] = {}
    for emitted, weight in played(setup):
        law[emitted[0]] = law.get(emitted[0], Fraction(0)) + weight
    return law


@pytest.mark.parametrize("kind", KINDS)
def test_traversal_of_a_chain_is_block_verification(kind):
    for shape in CHAINS:
        setup = Setup(block, shape, World(kind, 3, 0))
        assert outcome_law(setup) == outcome_law(replace(setup, rule=traversal))


def hierarchical(tree, p, q, choices):
    """As in arXiv 2601.05724: by joint ratios and the two masses of each branch, with the last ratio capped as well."""
    joint = largest = Fraction(1)
    thresholds = []
    for node, token in enumerate(tree.tokens):
        joint *= p[node][token] / q[node][token]
        largest = max(largest, joint)
        weight = joint / largest
        if node + 1 < len(tree):
            excess = (weight * p[node + 1] - q[node + 1]).clip(0).sum()
            lack = (q[node + 1] - weight * p[node + 1]).clip(0).sum()
            thresholds.append(excess / max(excess, lack) if excess or lack else Fraction(1))
        else:
            thresholds.append(weight)
    return block(tree, p, q, Altered(choices, threshold=lambda node, *_: thresholds[node]))


@pytest.mark.parametrize("kind", KINDS)
def test_hierarchical_verification_with_every_ratio_capped_is_block_verification(kind):
    for shape in CHAINS:
        setup = Setup(block, shape, World(kind, 3, 0))
        assert outcome_law(setup) == outcome_law(replace(setup, rule=hierarchical))
        assert distance(setup, Method(rule=hierarchical)) == 0


def test_with_its_last_ratio_uncapped_it_is_not_exact():
    worlds = [World("dense", 3, seed) for seed in range(6)]
    assert max(distance(Setup(block, CHAINS[1], world), Method(rule=last_ratio_uncapped)) for world in worlds) > 0.05


@pytest.mark.parametrize("shape", CHAINS, ids=lambda shape: shape.name)
def test_block_gains_nothing_where_the_drafter_has_no_choice(shape):
    for seed in range(5):
        setup = Setup(top_down, shape, World("one-hot q", 3, seed))
        assert outcome_law(setup) == outcome_law(replace(setup, rule=block))


def test_a_drafter_like_the_target_has_everything_accepted():
    for rule, shape in ((top_down, CHAINS[2]), (block, CHAINS[2]), (traversal, WITH_REPLACEMENT[2])):
        assert expected_accepted(Setup(rule, shape, World("equal", 3, 0))) == shape.depth


def test_the_chain_rule_tests_no_position_twice_and_the_block_rule_does():
    """Why coins are keyed by the round as well: the chain rule alone could do without."""
    for keys in (TestsByPositionAlone(), DraftsByPositionAlone()):
        worlds = [World("dense", 2, seed) for seed in range(4)]
        assert not any(distance(Setup(top_down, CHAINS[1], world, 2), Method(keys=keys)) for world in worlds)
        assert any(distance(Setup(block, CHAINS[1], world, 2), Method(keys=keys)) for world in worlds)
        assert not any(distance(Setup(block, CHAINS[1], world, 2), HONEST) for world in worlds)


def test_the_proof_compares_laws_that_add_up_to_one():
    setup = LINES[0].setups(1)[0]
    assert sum(target_law(setup).values()) == 1
    assert sum(weight for _, weight in played(setup)) == 1
