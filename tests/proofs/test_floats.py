"""Lossless through `verify` itself: its float laws, its rules, its draws, with logits of the types that models give."""

import pytest

from tests.proofs.setups import LINES
from tests.proofs.verdicts import ROUNDING, WALKED, expose_in_floats, prove_in_floats


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.name)
def test_the_law_of_what_verify_emits_is_the_targets_but_for_rounding(line):
    verdict = prove_in_floats(line, seeds=1)
    assert verdict.cases == 2 * len(line.shapes)
    assert verdict.largest < ROUNDING


@pytest.mark.parametrize("control", WALKED, ids=lambda control: f"{control.line.name}: {control.bug}")
def test_a_seeded_bug_is_far_off(control):
    assert expose_in_floats(control).largest > 0.001
