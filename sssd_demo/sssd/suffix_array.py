"""Suffix arrays over token ids, sorted by libdivsufsort, which knows bytes only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from pydivsufsort import divsufsort

MAX_BYTES = 2**31 - 1  # beyond it libdivsufsort answers with 64-bit positions, twice the memory


def suffix_array(tokens: NDArray[np.unsignedinteger]) -> NDArray[np.int32]:
    """Positions [N] of all suffixes of `tokens` [N], uint16 or uint32, in lexicographic order of token ids.

    The ids are written as big-endian bytes, whose order is that of the ids; of the sorted byte suffixes those that
    start in the middle of an id are dropped. pydivsufsort offers this for integer arrays as well, but narrows the
    type to the range of the values; done here, the result depends on nothing but the order of the ids.

    At its peak it takes 18 (uint16) or 32 (uint32) bytes per token beside `tokens`. Raises `ValueError` if the
    bytes of `tokens` are more than `MAX_BYTES`.
    """
    if tokens.nbytes > MAX_BYTES:
        raise ValueError(f"{tokens.nbytes} bytes of tokens are more than {MAX_BYTES}")
    if not tokens.size:
        return np.empty(0, np.int32)
    width = tokens.dtype.itemsize
    big_endian = np.ascontiguousarray(tokens, dtype=tokens.dtype.newbyteorder(">"))
    by_byte = divsufsort(big_endian.view(np.uint8))
    inside = np.bitwise_and(by_byte, width - 1, dtype=np.uint8, casting="unsafe")  # a remainder, in one byte each
    at_token = by_byte[inside == 0]
    at_token //= width
    return at_token.view(np.int32)  # the same numbers, but a memoryview does not know the library's type
