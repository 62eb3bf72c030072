"""One suffix array with its tokens: where did these tokens occur, and how did it go on?"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sssd_demo.sssd.suffix_array import suffix_array

TABLE_FROM = 2**19  # positions, from where on a table of all first tokens is worth its memory
_CHUNK = 2**16
FEW = 12  # continuations: up to here it is faster to read one after another than to let numpy do it


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
        # One item is read faster from a memoryview than from an array, many from a plain array than from a mapped one.
        self._tokens = tokens.data
        self._suffixes: Sequence[int] = suffixes.data
        self._ids = np.asarray(tokens)
        self._positions = np.asarray(suffixes)
        self._first_ranks: Sequence[int] = ()
        if len(tokens) >= TABLE_FROM:
            self._first_ranks = _first_ranks(self._ids, self.separator).data

    @property
    def nbytes(self) -> int:
        """Memory that it takes, mapped files included."""
        return self.tokens.nbytes + self.suffixes.nbytes + 4 * len(self._first_ranks)

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

        The range is narrowed by one token at a time: about 2 log2 N reads for the first, unless a table has it, and
        fewer for the next ones.
        """
        low, high, known = 0, len(self._suffixes), 0
        if self.separator in query:
            return range(0)
        if self._first_ranks:
            if query[0] >= len(self._first_ranks) - 1:
                return range(0)
            low, high, known = self._first_ranks[query[0]], self._first_ranks[query[0] + 1], 1
        for offset in range(known, len(query)):
            token = query[offset]
            # Reads stay inside: what has matched so far is no separator, and the last token of all is one.
            key = self._reader(offset)
            low = bisect_left(self._suffixes, token, low, high, key=key)
            high = bisect_right(self._suffixes, token, low, high, key=key)
            if low == high:
                break
        return range(low, high)

    def continuations(self, ranks: Sequence[int], skip: int, length: int) -> list[list[int]]:
        """At most `length` tokens after the first `skip` of each suffix in `ranks`, cut at its document's end."""
        if len(ranks) < FEW:
            return [self._continuation(self._suffixes[rank] + skip, length) for rank in ranks]
        # A suffix begins with `skip` tokens, so what is read starts inside; it may reach beyond the end.
        places = self._positions[ranks][:, None] + np.arange(skip, skip + length)
        block = self._ids[np.minimum(places, len(self._ids) - 1)]
        found: list[list[int]] = block.tolist()
        for row in np.flatnonzero((block == self.separator).any(axis=1)).tolist():
            found[row] = found[row][: found[row].index(self.separator)]
        return found

    def _continuation(self, start: int, length: int) -> list[int]:
        found = self._tokens[start : start + length].tolist()
        return found[: found.index(self.separator)] if self.separator in found else found

    def _reader(self, offset: int) -> Callable[[int], int]:
        tokens = self._tokens
        return lambda position: tokens[position + offset]


def _first_ranks(ids: NDArray[np.unsignedinteger], separator: int) -> NDArray[np.int32]:
    """[V + 1]: the rank of the first suffix that starts with each token, and that of the first separator at the end."""
    counts = np.zeros(0, np.int64)
    for start in range(0, len(ids), _CHUNK):  # small ones: counting does not let other threads run
        chunk = ids[start : start + _CHUNK]
        found = np.bincount(chunk[chunk != separator], minlength=len(counts))
        found[: len(counts)] += counts
        counts = found
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)


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
