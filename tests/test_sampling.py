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


@pytest.mark.parametrize("sharpness", [0.0, 0.3, 4.0])
@pytest.mark.parametrize(("top_k", "top_p"), [(0, 0.5), (0, 0.95), (40, 1.0), (300, 0.9), (1000, 0.99)])
def test_large_vocabularies_give_what_a_full_sort_gives(sharpness, top_k, top_p):
    torch.manual_seed(1)
    logits = (torch.randn(4, 5000) * sharpness).round(decimals=1)  # rounded, so that there are many ties
    p = distribution(logits, Sampling(temperature=1.0, top_k=top_k, top_p=top_p))
    for row, whole in zip(p, logits.double().softmax(-1), strict=True):
        ranked = sorted(range(5000), key=lambda token: (-float(whole[token]), token))
        kept, mass = [], 0.0
        left = float(sum(whole[token] for token in ranked[:top_k])) if top_k else 1.0
        for token in ranked[: top_k or None]:
            if mass >= top_p * left - 1e-6:
                break
            kept.append(token)
            mass += float(whole[token])
        found = row.nonzero()[:, 0].tolist()
        assert abs(len(found) - len(kept)) <= 1, "the edge may move by one token where the mass meets top-p"
        assert set(found) <= set(ranked[: len(kept) + 1])
        assert float(row.sum()) == pytest.approx(1.0)


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


@pytest.mark.parametrize("settings", [{}, {"top_k": 2}, {"top_p": 0.9}])
def test_a_temperature_next_to_nothing_is_all_but_greedy(settings):
    assert distribution(LOGITS, Sampling(temperature=1e-45, **settings)).tolist() == [[0, 1, 0, 0]]
