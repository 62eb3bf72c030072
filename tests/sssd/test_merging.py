"""Merging keeps sub-indices few and sorts a token again seldom, whatever arrives."""

import random

import pytest

from sssd_demo.sssd.merging import Limits, merge_from

UNLIMITED = 2**40


def test_nothing_is_merged_while_each_is_much_larger_than_all_that_is_newer():
    assert merge_from([], UNLIMITED) is None
    assert merge_from([5], UNLIMITED) is None
    assert merge_from([1000, 80, 9], UNLIMITED) is None


def test_the_newest_are_merged_as_far_back_as_they_are_not():
    assert merge_from([10_000, 79, 10], UNLIMITED) == 1
    assert merge_from([700, 79, 10], UNLIMITED) == 0
    assert merge_from([2000, 1000, 2], UNLIMITED) == 0, "a merge that failed is made up for"


def test_no_merge_is_larger_than_can_be_sorted():
    assert merge_from([700, 79, 10], affordable=788) == 1
    assert merge_from([700, 79, 10], affordable=88) is None


def test_a_million_documents_make_few_sub_indices_and_few_sorts():
    rng = random.Random(0)
    sizes: list[int] = []
    appended = sorted_again = 0
    most = 0
    for _ in range(20_000):
        size = rng.randrange(50, 500)
        appended += size
        sizes.append(size)
        while (start := merge_from(sizes, UNLIMITED)) is not None:
            sizes[start:] = [sum(sizes[start:])]
            sorted_again += sizes[-1]
        most = max(most, len(sizes))
    assert most <= 7
    assert sorted_again < 25 * appended


def test_a_tail_is_a_small_part_of_a_sub_index():
    assert Limits().tail_tokens == 4096
    assert Limits(max_tokens=320).tail_tokens == 20


@pytest.mark.parametrize("limits", [{"max_tokens": 1}, {"max_sub_indices": 0}])
def test_limits_that_leave_no_room_are_refused(limits):
    with pytest.raises(ValueError, match="at least one sub-index"):
        Limits(**limits)
