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
        return cls.of(joined(documents, dtype))

    @classmethod
    def of(cls, tokens: NDArray[np.unsignedinteger]) -> SubIndex:
        """Index `tokens` [N]: documents as `joined` lays them out."""
        documents = int(np.count_nonzero(tokens == np.iinfo(tokens.dtype).max))
        return cls(tokens, suffix_array(tokens), documents)

    def texts(self) -> list[NDArray[np.unsignedinteger]]:
        """Its documents, without separators."""
        ends = np.flatnonzero(self.tokens == self.separator)
        return [part[:-1] for part in np.split(self.tokens, ends + 1)[:-1]]

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


def joined(documents: Iterable[ArrayLike], dtype: np.dtype) -> NDArray[np.unsignedinteger]:
    """`documents` one after another, each ended by a separator. Raises `ValueError` like `SubIndex.build`."""
    separator = int(np.iinfo(dtype).max)
    parts: list[NDArray] = []
    for document in documents:
        parts += [as_ids(document, separator).astype(dtype), np.array([separator], dtype)]
    return np.concatenate(parts) if parts else np.empty(0, dtype)


def cut(tokens: NDArray[np.unsignedinteger], capacity: int) -> list[NDArray[np.unsignedinteger]]:
    """`tokens` in runs of at most `capacity`, each of as many whole documents as fit, but at least one."""
    ends = np.flatnonzero(tokens == np.iinfo(tokens.dtype).max) + 1
    runs = []
    start = 0
    while start < len(tokens):
        fitting, next_one = np.searchsorted(ends, [start + capacity, start], side="right")
        stop = int(ends[max(fitting - 1, next_one)])
        runs.append(tokens[start:stop])
        start = stop
    return runs


def as_ids(document: ArrayLike, limit: int) -> NDArray:
    """`document` as an array [n]. Raises `ValueError` unless it holds whole numbers from 0 and below `limit`."""
    ids = np.asarray(document)
    if ids.size and not (ids.dtype.kind in "iu" and ids.min() >= 0 and ids.max() < limit):
        raise ValueError(f"token ids must be whole numbers from 0 to {limit - 1}")
    return ids
