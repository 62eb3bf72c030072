"""One suffix array with its tokens: where did these tokens occur, and how did it go on?"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sssd_demo.sssd.suffix_array import suffix_array


class SubIndex:
    """Documents one after another, each ended by a separator, and the order of all their suffixes. Immutable.

    `tokens` [N] are uint16 or uint32, separators included; `suffixes` [N] are positions in them, int32. The
    separator is the largest value of the tokens' type and is no token, so nothing can match or continue across it.
    """

    def __init__(self, tokens: NDArray[np.unsignedinteger], suffixes: NDArray[np.int32], documents: int) -> None:
        self.tokens = tokens
        self.suffixes = suffixes
        self.documents = documents
        self.separator = int(np.iinfo(tokens.dtype).max)
        # A single item is read faster from a memoryview than from an array.
        self._tokens = tokens.data
        self._suffixes: Sequence[int] = suffixes.data

    @classmethod
    def build(cls, documents: Iterable[ArrayLike], dtype: np.dtype) -> SubIndex:
        """Index `documents`: sequences or arrays of whole numbers, of any type and memory layout.

        Raises `ValueError` for an id that is negative or not below the separator.
        """
        separator = int(np.iinfo(dtype).max)
        parts: list[NDArray] = []
        for document in documents:
            parts += [as_ids(document, separator).astype(dtype), np.array([separator], dtype)]
        tokens = np.concatenate(parts) if parts else np.empty(0, dtype)
        return cls(tokens, suffix_array(tokens), len(parts) // 2)

    def find(self, query: Sequence[int]) -> range:
        """The ranks, places in `suffixes`, of all suffixes that start with `query` (at least one token).

        The range is narrowed by one token at a time: about 2 log2 N reads for the first, fewer for the next ones.
        """
        low, high = 0, len(self._suffixes)
        if self.separator in query:
            return range(0)
        for offset, token in enumerate(query):
            # Reads stay inside: what has matched so far is no separator, and the last token of all is one.
            key = self._reader(offset)
            low = bisect_left(self._suffixes, token, low, high, key=key)
            high = bisect_right(self._suffixes, token, low, high, key=key)
            if low == high:
                break
        return range(low, high)

    def continuation(self, rank: int, skip: int, length: int) -> list[int]:
        """At most `length` tokens after the first `skip` of the suffix at `rank`, cut at its document's end."""
        start = self._suffixes[rank] + skip
        found = self._tokens[start : start + length].tolist()
        return found[: found.index(self.separator)] if self.separator in found else found

    def _reader(self, offset: int) -> Callable[[int], int]:
        tokens = self._tokens
        return lambda position: tokens[position + offset]


def as_ids(document: ArrayLike, limit: int) -> NDArray:
    """`document` as an array [n]. Raises `ValueError` unless it holds whole numbers from 0 and below `limit`."""
    ids = np.asarray(document)
    if ids.size and not (ids.dtype.kind in "iu" and ids.min() >= 0 and ids.max() < limit):
        raise ValueError(f"token ids must be whole numbers from 0 to {limit - 1}")
    return ids
