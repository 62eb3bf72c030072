"""Suffix arrays over token ids, sorted by libdivsufsort, which knows bytes only."""

from __future__ import annotations

import ctypes

import numpy as np
from numpy.typing import NDArray
from pydivsufsort.dll import libdivsufsort

MAX_BYTES = 2**31 - 1  # beyond it libdivsufsort needs 64-bit positions, twice the memory


def suffix_array(tokens: NDArray[np.unsignedinteger]) -> NDArray[np.int32]:
    """Positions [N] of all suffixes of `tokens` [N], uint16 or uint32, in lexicographic order of token ids.

    The ids are written as big-endian bytes, whose order is that of the ids; of the sorted byte suffixes those that
    start in the middle of an id are dropped. pydivsufsort offers this for integer arrays as well, but narrows the
    type to the range of the values; done here, the result depends on nothing but the order of the ids.

    Other threads run meanwhile: the sorting and numpy's steps let go of the interpreter. At its peak it takes
    `peak_bytes` of memory beside `tokens`. Raises `ValueError` if the bytes of `tokens` are more than `MAX_BYTES`.
    """
    if tokens.nbytes > MAX_BYTES:
        raise ValueError(f"{tokens.nbytes} bytes of tokens are more than {MAX_BYTES}")
    if not tokens.size:
        return np.empty(0, np.int32)
    width = tokens.dtype.itemsize
    big_endian = np.ascontiguousarray(tokens, dtype=tokens.dtype.newbyteorder(">"))
    by_byte = _sorted_suffixes(big_endian.view(np.uint8))
    del big_endian
    inside = np.bitwise_and(by_byte, width - 1, dtype=np.uint8, casting="unsafe")  # a remainder, in one byte each
    at_token = by_byte[inside == 0]
    at_token //= width
    return at_token


def peak_bytes(tokens: int, dtype: np.dtype) -> int:
    """Memory that sorting `tokens` tokens takes at its peak, beside the tokens: 16 (uint16) or 28 bytes for each."""
    return tokens * {2: 16, 4: 28}[dtype.itemsize]


def _sorted_suffixes(content: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Called past pydivsufsort's own function, whose way through ctypes takes far longer than to sort a short text."""
    _use_one_thread()
    positions = np.empty(content.size, np.int32)
    failed = libdivsufsort.divsufsort(
        ctypes.c_void_p(content.ctypes.data), ctypes.c_void_p(positions.ctypes.data), ctypes.c_int32(content.size)
    )
    if failed:
        raise MemoryError("libdivsufsort could not allocate its buckets")
    return positions


def _use_one_thread() -> None:
    """Keep the library's OpenMP from starting workers: they gain nothing here and would compete with the target's."""
    try:
        libdivsufsort.omp_set_num_threads(1)  # of the OpenMP that the library is linked with; binds this thread only
    except AttributeError:
        return  # built without OpenMP
