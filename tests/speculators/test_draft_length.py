"""How much to draft follows from measured times and past acceptance alone."""

import pytest

from sssd_demo.speculators.draft_length import PRIOR, Rate, best_length


def flat(batch, tokens, context):
    """A forward whose time hardly depends on its tokens."""
    return 1.0 + 0.01 * batch * tokens


def test_the_more_is_accepted_the_more_is_drafted():
    lengths = [best_length([rate], 0.2, flat, 100) for rate in (0.05, 0.4, 0.7, 0.9, 0.99)]
    assert lengths == sorted(lengths)
    assert lengths[0] == 0
    assert lengths[-1] > 5


def test_the_dearer_the_draft_the_less_is_drafted():
    lengths = [best_length([0.8], step, flat, 100) for step in (0.01, 0.1, 0.3, 1.0)]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[-1] == 0


def test_a_length_that_cannot_win_is_not_chosen():
    """By hand: at acceptance 0.5 and half a forward a step, K = 1 brings 1.5 tokens in the time of 1.5 forwards."""

    def constant(batch, tokens, context):
        return 1.0

    assert best_length([0.5], 0.51, constant, 0) == 0
    assert best_length([0.5], 0.49, constant, 0) == 1


def test_what_was_never_measured_is_not_drafted_for():
    assert best_length([0.9], 0.1, lambda batch, tokens, context: None, 100) == 0


def test_a_batch_shares_one_length_and_its_cost():
    def steep(batch, tokens, context):
        return 0.3 + 0.7 * batch * tokens

    assert best_length([0.9] * 8, 0.01, steep, 100) < best_length([0.9], 0.01, flat, 100)


def test_a_rate_begins_at_its_prior_follows_what_happens_and_forgets_it_again():
    rate = Rate()
    assert rate.value == pytest.approx(PRIOR)
    for _ in range(40):
        rate.observe(4, 0)
    low = rate.value
    assert low < 0.2
    for _ in range(200):
        rate.observe(0, 0)  # nothing drafted
    assert low < rate.value == pytest.approx(PRIOR, abs=0.01)


def test_only_tested_tokens_count():
    rate, other = Rate(), Rate()
    rate.observe(8, 2)  # the third was refused, five were never tested
    other.observe(3, 2)
    assert rate.value == other.value
