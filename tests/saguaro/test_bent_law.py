"""Saguaro sampling: laws stay laws, lose no token but where C is 0, and leave more of the residual to outcomes."""

import pytest
import torch

from sssd_demo.saguaro.bent_law import RANKS, STRAIGHT, SUPPORT, Bending, bent

LAW = torch.tensor([0.4, 0.05, 0.3, 0.0, 0.15, 0.1], dtype=torch.float64)
FAN = (2, 1)


@pytest.mark.parametrize("c", [0.0, 0.3, 0.999, 1.0])
@pytest.mark.parametrize("accepted", [0, 1, 2])
def test_a_bent_law_sums_to_one_and_is_the_papers(c, accepted):
    """σ(z) ∝ C·exp(z) on the top F, exp(z) elsewhere."""
    law = bent(LAW, Bending("c", c, FAN), accepted)
    assert float(law.sum()) == pytest.approx(1, abs=1e-12)
    light = {0: [0, 2], 1: [0], 2: []}[accepted]  # nothing is known to be prepared after the second token
    weights = torch.tensor([each * (c if token in light else 1) for token, each in enumerate(LAW.tolist())])
    torch.testing.assert_close(law, (weights / weights.sum()).double(), atol=1e-7, rtol=1e-6)
    assert float(law[3]) == 0, "an impossible token stays impossible"


def test_c_of_one_and_no_bend_leave_the_law_as_it_is():
    torch.testing.assert_close(bent(LAW, Bending("c", 1.0, FAN), 0), LAW)
    assert bent(LAW, STRAIGHT, 0) is LAW
    assert bent(LAW, Bending("root"), 0) is LAW, "nothing is known of past rounds yet"


def test_c_of_zero_draws_nothing_that_is_prepared_unless_nothing_else_is_possible():
    law = bent(LAW, Bending("c", 0.0, FAN), 0)
    assert law[[0, 2]].tolist() == [0, 0]
    assert bent(LAW, Bending("c", 0.0, (6,)), 0) is LAW


def test_a_lower_c_leaves_more_of_the_residual_to_the_prepared_tokens():
    target = torch.tensor([0.5, 0.05, 0.2, 0.05, 0.1, 0.1], dtype=torch.float64)

    def prepared_share(c):
        left = (target - bent(LAW, Bending("c", c, FAN), 0)).clip(0)
        return float(left[[0, 2]].sum() / left.sum())

    shares = [prepared_share(c) for c in (1.0, 0.6, 0.2)]
    assert shares == sorted(shares)
    assert shares[0] < shares[-1]


def test_the_second_form_by_hand():
    """q' ∝ √(q · r̂) with ε·q: ranks 1 and 2 have known shares of r̂, the rest follows q."""
    law = bent(LAW, Bending("root", shares=(0.5, 0.2)), 0)
    residual = torch.tensor([0.5, 0.3 * 0.05 / 0.3, 0.2, 0, 0.3 * 0.15 / 0.3, 0.3 * 0.1 / 0.3], dtype=torch.float64)
    weights = (LAW * residual).sqrt()
    torch.testing.assert_close(law, (1 - SUPPORT) * weights / weights.sum() + SUPPORT * LAW)
    assert float(law.sum()) == pytest.approx(1, abs=1e-12)
    assert ((law > 0) == (LAW > 0)).all()


@pytest.mark.parametrize("shares", [(1.0,) + (0.0,) * (RANKS - 1), (0.0,) * RANKS, (0.1,) * RANKS])
def test_the_second_form_keeps_every_possible_token_whatever_past_rounds_say(shares):
    law = bent(LAW, Bending("root", shares=shares), 0)
    assert float(law.sum()) == pytest.approx(1, abs=1e-12)
    assert ((law > 0) == (LAW > 0)).all()
    assert (law >= 0).all()
