"""Sorting beside those that answer: the same result however it is done, and never more than memory allows."""

import numpy as np
import pytest

from sssd_demo.sssd import sorting
from sssd_demo.sssd.merging import TAIL_TOKENS
from sssd_demo.sssd.sorting import affordable, indexed
from sssd_demo.sssd.sub_index import SubIndex, joined

DTYPE = np.dtype(np.uint16)


@pytest.mark.parametrize("length", [3, TAIL_TOKENS, 3 * TAIL_TOKENS])
def test_short_and_long_texts_are_indexed_alike(length):
    tokens = joined([np.arange(length) % 50], DTYPE)
    assert indexed(tokens).suffixes.tolist() == SubIndex.of(tokens).suffixes.tolist()


@pytest.mark.parametrize("length", [30, 3 * TAIL_TOKENS])
def test_more_than_memory_allows_is_refused_and_as_much_as_it_allows_is_sorted(monkeypatch, length):
    class Memory:
        available = length * 16 / sorting.MEMORY_SHARE + 1

    monkeypatch.setattr(sorting.psutil, "virtual_memory", Memory)
    assert affordable(DTYPE) == length
    assert indexed(np.zeros(length, DTYPE)).suffixes.size == length
    with pytest.raises(MemoryError, match="MiB of memory are needed, but only"):
        indexed(np.zeros(length + 1, DTYPE))


def test_what_goes_wrong_in_a_long_sort_is_raised_here(monkeypatch):
    def fails(tokens):
        raise RuntimeError("cosmic ray")

    monkeypatch.setattr(sorting.SubIndex, "of", fails)
    with pytest.raises(RuntimeError, match="cosmic ray"):
        indexed(np.zeros(TAIL_TOKENS + 1, DTYPE))
