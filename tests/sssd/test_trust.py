"""Trust in a kind of candidate: earned by what followed, lost where it did not."""

import pytest

from sssd_demo.sssd.trust import BELIEF, Kind, Trust
from tests.toys import point_tree

FIRST: Kind = ("prompt", 1, True)
LATER: Kind = ("prompt", 1, False)


def test_before_anything_followed_promises_are_believed():
    assert Trust().factor(FIRST) == 1.0


def test_a_kept_promise_raises_trust_and_a_broken_one_lowers_it():
    kept, broken = Trust(), Trust()
    for trust, followed in ((kept, 5), (broken, 6)):
        trust.drafted(point_tree([5], [-1]))  # promised with probability 0.5
        trust.learn([followed])
    assert kept.factor(FIRST) == pytest.approx((1 + BELIEF) / (0.5 + BELIEF))
    assert broken.factor(FIRST) == pytest.approx(BELIEF / (0.5 + BELIEF))
    assert kept.factor(LATER) == 1.0


def test_nodes_below_a_token_that_was_not_written_teach_nothing():
    trust = Trust()
    trust.drafted(point_tree([5, 7], [-1, 0]))
    trust.learn([6, 7])
    assert trust.factor(LATER) == 1.0


def test_a_draft_counts_once_and_only_for_what_followed_it():
    trust = Trust()
    trust.drafted(point_tree([5], [-1]))
    trust.learn([])
    trust.learn([6])
    assert trust.factor(FIRST) == 1.0
