"""The plan of a round's length: it must pay, for the batch as a whole, and never cost more than it brings."""

import pytest

from sssd_demo.length import LengthPlanner
from sssd_demo.roofline import BATCHES, CONTEXTS, LENGTHS, MAX_AUTO_S_Q, Profile


def planner(seconds, **peaks):
    lengths = LengthPlanner(bytes_per_weight=2)
    points = {(b, q, c): seconds(b, q, c) for b in BATCHES for q in LENGTHS for c in CONTEXTS}
    lengths.use(Profile(points, **peaks))
    return lengths


def free_until(knee):
    """Time is flat up to `knee` tokens in the batch and then grows with them."""
    return lambda batch, length, context: max(1.0, batch * length / knee)


def growing(share, nodes=MAX_AUTO_S_Q - 1):
    """Each node is accepted with `share` of the probability of the one before."""
    expected = [0.0]
    for node in range(nodes):
        expected.append(expected[-1] + share ** (node + 1))
    return expected


def test_drafts_that_always_hold_are_drafted_as_far_as_they_are_free():
    assert planner(free_until(16)).best([growing(1.0)], [], 64) >= 16


def test_drafts_that_never_hold_switch_speculation_off():
    steep = planner(lambda batch, length, context: float(length))
    assert steep.best([growing(0.1)], [], 64) == 1


def test_the_choice_is_the_best_ratio_of_tokens_to_time():
    def seconds(batch, length, context):
        return 1.0 + 0.1 * length

    expected = growing(0.7)
    best = max(range(1, 33), key=lambda s: (1 + expected[s - 1]) / seconds(1, s, 64))
    assert planner(seconds).best([expected], [], 64) == best
    assert 2 < best < 32


def test_a_full_batch_drafts_less_than_one_sequence():
    lengths = planner(free_until(32))
    alone = lengths.best([growing(0.8)], [], 64)
    together = lengths.best([growing(0.8)] * 16, [], 64)
    assert together < alone


def test_an_unpromising_sequence_does_not_decide_for_the_others():
    lengths = planner(free_until(32))
    assert lengths.best([growing(0.9), [0.0]], [], 64) > 4


def test_where_others_pay_for_a_long_forward_already_drafting_is_free():
    steep = planner(lambda batch, length, context: float(length))
    assert steep.best([growing(0.1)], [12], 64) == 12


def test_a_longer_context_counts():
    lengths = planner(lambda batch, length, context: 1.0 if context < 500 else float(length))
    assert lengths.best([growing(0.5)], [], 64) > lengths.best([growing(0.5)], [], 512) == 1


def test_no_more_than_was_drafted_is_planned():
    assert planner(free_until(64)).best([[0.0, 0.9, 1.8]], [], 64) == 3


def test_rules_and_numbers():
    lengths = planner(free_until(16), flops=4e11, bandwidth=4e10)
    assert lengths.most(5, 1, 64, last=1) == 5
    assert lengths.most("knee", 1, 64, last=1) == 19  # 1.2 times as long as one token
    assert lengths.most("roofline", 1, 64, last=1) == 10  # ten operations a byte, two bytes a weight
    assert lengths.most("roofline", 4, 64, last=1) == 2
    assert lengths.most("roofline", 32, 64, last=1) == 1


def test_what_is_left_open_may_double_from_round_to_round():
    lengths = planner(free_until(16))
    assert [lengths.most("auto", 1, 64, last) for last in (1, 8, 12, 16, 30)] == [16, 16, 24, 32, MAX_AUTO_S_Q]


def test_a_new_profile_is_used_at_once():
    lengths = planner(free_until(16))
    assert lengths.best([growing(0.9)], [], 64) > 4
    lengths.use(Profile({(1, q, 64): float(q) for q in LENGTHS}))
    assert lengths.best([growing(0.2)], [], 64) == 1


def test_without_a_profile_nothing_is_drafted_and_peaks_are_asked_for():
    lengths = LengthPlanner(bytes_per_weight=2)
    assert lengths.most("auto", 1, 64, last=1) == 1
    with pytest.raises(ValueError, match="peaks"):
        lengths.most("roofline", 1, 64, last=1)


def test_times_are_the_same_within_a_block_of_the_cache_whoever_asks_first():
    def seconds(batch, length, context):
        return 1.0 + context / 64

    for first, then in ((64, 127), (127, 64)):
        lengths = planner(seconds)
        assert lengths.seconds(1, 1, first) == lengths.seconds(1, 1, then) == 2.0
    assert planner(seconds).seconds(1, 1, 128) == 3.0
