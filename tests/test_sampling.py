"""The target's distribution after temperature, top-k and top-p."""

import pytest
import torch

from sssd_demo.errors import UserError
from sssd_demo.sampling import Sampling, distribution

LOGITS = torch.tensor([[0.0, 2.0, 1.0, -1.0]])


def test_temperature_zero_is_one_hot():
    assert distribution(LOGITS, Sampling()).tolist() == [[0, 1, 0, 0]]


def test_temperature_scales_the_logits():
    expected = (LOGITS / 0.5).softmax(-1)
    torch.testing.assert_close(distribution(LOGITS, Sampling(temperature=0.5)), expected)


def test_top_k_keeps_the_k_most_likely():
    p = distribution(LOGITS, Sampling(temperature=1.0, top_k=2))
    torch.testing.assert_close(p, restricted(LOGITS, [1, 2]))


def test_top_p_keeps_the_smallest_set_that_reaches_the_mass():
    p = LOGITS.softmax(-1)[0]
    just_over_first = float(p[1]) + 0.01
    kept = distribution(LOGITS, Sampling(temperature=1.0, top_p=just_over_first))
    torch.testing.assert_close(kept, restricted(LOGITS, [1, 2]))
    only_first = distribution(LOGITS, Sampling(temperature=1.0, top_p=float(p[1]) - 0.01))
    assert only_first.tolist() == [[0, 1, 0, 0]]


def test_top_p_is_applied_to_what_top_k_left():
    p = distribution(LOGITS, Sampling(temperature=1.0, top_k=2, top_p=0.7))
    assert p.tolist() == [[0, 1, 0, 0]]  # within the two kept, the first alone has 0.73


def test_ties_are_broken_by_token_id_however_many_rows_there_are():
    flat = torch.zeros(3, 5)
    p = distribution(flat, Sampling(temperature=1.0, top_k=2))
    assert p.tolist() == [[0.5, 0.5, 0, 0, 0]] * 3


def restricted(logits, ids):
    masked = torch.full_like(logits, float("-inf"))
    masked[..., ids] = logits[..., ids]
    return masked.softmax(-1)


@pytest.mark.parametrize(
    ("setting", "word"),
    [
        ({"temperature": -0.1}, "Temperature"),
        ({"temperature": 2.1}, "Temperature"),
        ({"temperature": float("nan")}, "Temperature"),
        ({"top_p": 0.0}, "Top-p"),
        ({"top_p": 1.01}, "Top-p"),
        ({"top_k": -1}, "Top-k"),
        ({"seed": -1}, "seed"),
    ],
)
def test_settings_out_of_range_are_refused_by_name(setting, word):
    with pytest.raises(UserError, match=word):
        Sampling(**setting)
