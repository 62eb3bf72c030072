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

    Peak memory is about 4 bytes of output per input byte, 8 (uint16) or 16 (uint32) per token, and half of that
    again while filtering. Raises `ValueError` if the bytes are more than `MAX_BYTES`.
    """
    if tokens.nbytes > MAX_BYTES:
        raise ValueError(f"{tokens.nbytes} bytes of tokens are more than {MAX_BYTES}")
    if not tokens.size:
        return np.empty(0, np.int32)
    width = tokens.dtype.itemsize
    big_endian = np.ascontiguousarray(tokens, dtype=tokens.dtype.newbyteorder(">"))
    by_byte = divsufsort(big_endian.view(np.uint8))
    at_token = by_byte[by_byte % width == 0]
    at_token //= width
    return at_token.astype(np.dtype(np.int32), copy=True)
