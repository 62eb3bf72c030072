"""The parts of a live store: replaced in their place, those before a full one sealed, none lost."""

import numpy as np
import pytest

from sssd_demo.sssd.store_parts import Part, replaced
from sssd_demo.sssd.sub_index import SubIndex


def part(full=False):
    return Part(SubIndex.build([[1, 2]], np.dtype(np.uint16)), full)


def test_new_parts_come_where_the_old_ones_were_and_at_the_end_if_there_were_none():
    a, b, c, d = (part() for _ in range(4))
    assert replaced((a, b, c), (b, c), (d,)) == (a, d)
    assert replaced((a, b), (), (c,)) == (a, b, c)
    assert replaced((a, b), (a,), ()) == (b,)


def test_parts_that_are_no_neighbours_cannot_be_replaced():
    a, full, c, new = part(), part(full=True), part(), part()
    with pytest.raises(ValueError, match="only neighbours"):
        replaced((a, full, c), (a, c), (new,))


def test_what_comes_before_a_full_part_counts_as_full():
    a, b, c, full = part(), part(), part(), part(full=True)
    after = replaced((a, b), (b,), (full, c))
    assert [each.sub_index for each in after] == [each.sub_index for each in (a, full, c)]
    assert [each.full for each in after] == [True, True, False]
