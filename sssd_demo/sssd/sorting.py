"""Sorting beside those that answer: within the memory that is free, and giving way to them where it takes long."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from functools import partial

import numpy as np
import psutil
from numpy.typing import NDArray

from sssd_demo.passing_thread import in_passing_thread
from sssd_demo.sssd.merging import TAIL_TOKENS
from sssd_demo.sssd.sub_index import SubIndex
from sssd_demo.sssd.suffix_array import peak_bytes

NICENESS = 5  # of long sorts, so that whoever drafts or decodes meanwhile keeps the cores
MEMORY_SHARE = 0.8  # of the free memory that sorting may take


def affordable(dtype: np.dtype) -> int:
    """How many positions can be sorted at once with the memory that is free now."""
    return int(MEMORY_SHARE * psutil.virtual_memory().available / peak_bytes(1, dtype))


def indexed(tokens: NDArray[np.unsignedinteger]) -> SubIndex:
    """`SubIndex.of(tokens)`. Raises `MemoryError` if more memory is needed than is free."""
    if len(tokens) > affordable(tokens.dtype):
        needed, free = peak_bytes(len(tokens), tokens.dtype), psutil.virtual_memory().available
        raise MemoryError(f"{needed / 2**20:,.0f} MiB of memory are needed, but only {free / 2**20:,.0f} are free")
    if len(tokens) <= TAIL_TOKENS:
        return SubIndex.of(tokens)
    return in_passing_thread(partial(_indexed_aside, tokens))  # the caller's thread does not give way afterwards


def step_back() -> None:
    """From now on this thread, and those it starts, give way to those that answer; there is no way back for it.

    Where threads have no priority of their own, nothing happens.
    """
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)


def _indexed_aside(tokens: NDArray[np.unsignedinteger]) -> SubIndex:
    step_back()
    return SubIndex.of(tokens)
