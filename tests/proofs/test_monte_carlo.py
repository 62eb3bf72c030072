"""Lossless, counted: answers of several rounds with production's own coins, all kinds of drafts mixed in each batch.

`python -m tests.proofs --monte-carlo` counts 200,000 of them, and more with `--runs`.
"""

import pytest
import torch

from tests.proofs.chi_square import chi_square
from tests.proofs.kinds import DTYPES
from tests.proofs.verdicts import COUNTED, count, count_bug
from tests.proofs.worlds import Text

RUNS = 2_500  # of each of 8 kinds of draft and 2 types of logits
BUG_RUNS = 4_000


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("dtype", DTYPES)
def test_answers_have_the_targets_law_whatever_was_drafted(dtype):
    counts = count(dtype, RUNS)
    assert sum(each.runs for each in counts) == 8 * RUNS
    assert [(each.line, each.p_value) for each in counts if not each.fits] == []


@pytest.mark.parametrize("control", COUNTED, ids=lambda control: f"{control.line.name}: {control.bug}")
def test_a_seeded_bug_is_seen(control):
    assert not count_bug(control, BUG_RUNS).fits


def test_counts_that_are_just_right_have_middling_p_values():
    law: dict[Text, float] = {(token,): share for token, share in enumerate((0.4, 0.3, 0.2, 0.1))}
    generator = torch.Generator().manual_seed(1)
    values = []
    for _ in range(400):
        drawn = torch.multinomial(torch.tensor([0.4, 0.3, 0.2, 0.1]), 500, replacement=True, generator=generator)
        values.append(chi_square({(token,): int((drawn == token).sum()) for token in range(4)}, law).p_value)
    assert 0.45 < sum(values) / len(values) < 0.55
    assert 0.02 < sum(value < 0.05 for value in values) / len(values) < 0.09


def test_known_points_of_chi_square():
    law: dict[Text, float] = {(0,): 0.5, (1,): 0.5}
    test = chi_square({(0,): 60, (1,): 40}, law)
    assert (test.statistic, test.freedom) == (4.0, 1)
    assert test.p_value == pytest.approx(0.0455003)


def test_an_impossible_text_has_no_p_value_and_rare_ones_are_counted_as_one():
    law: dict[Text, float] = {(0,): 0.98, (1,): 0.015, (2,): 0.005}
    assert chi_square({(0,): 95, (3,): 5}, law).p_value == 0.0
    assert chi_square({(0,): 98, (1,): 1, (2,): 1}, law).freedom == 1
