"""Past text as a list of sub-indices that answers as if it were one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sssd_demo.sssd.recycled import Recycled
from sssd_demo.sssd.recycled_table import MOST_KEPT, RecycledTable
from sssd_demo.sssd.sub_index import SubIndex, as_ids
from sssd_demo.sssd.suffix_array import MAX_BYTES
from sssd_demo.trace import Top

MAX_TOKENS = 512 * 2**20  # of one sub-index, separators included (authors of arXiv 2411.05894)


@dataclass(frozen=True)
class Datastore:
    """Documents of token ids, to be asked how a few tokens were continued. Immutable; threads may share it."""

    sub_indices: tuple[SubIndex, ...]
    fingerprint: str  # of the tokenizer that made the ids
    dtype: np.dtype
    max_tokens: int = MAX_TOKENS  # positions in a sub-index, when documents are added
    sealed: int = 0  # the oldest sub-indices, those to which nothing is added any more
    dropped: int = 0  # older documents that were pushed out; this happens to live stores only
    recycled: RecycledTable | None = None  # what the target held likely in these documents, where that was recorded

    @classmethod
    def build(
        cls, documents: Iterable[ArrayLike], *, fingerprint: str, vocab_size: int, max_tokens: int = MAX_TOKENS
    ) -> Datastore:
        """Index `documents` of ids below `vocab_size`, at most `max_tokens` positions in a sub-index.

        A document longer than a sub-index is cut; no other is. Empty documents are left out. Raises `ValueError`
        for an id out of range.
        """
        empty = cls((), fingerprint, token_dtype(vocab_size), max_tokens)
        return empty.with_documents(documents, vocab_size=vocab_size)

    def with_documents(self, documents: Iterable[ArrayLike], *, vocab_size: int) -> Datastore:
        """This store and `documents`, which fill up its last sub-index first. Otherwise like `build`."""
        kept = self.sub_indices[: self.sealed]
        opened = [text for sub_index in self.sub_indices[self.sealed :] for text in sub_index.texts()]
        groups = _groups(chain(opened, documents), vocab_size, capacity(self.max_tokens, self.dtype))
        sub_indices = kept + tuple(SubIndex.build(group, self.dtype) for group in groups)
        return replace(self, sub_indices=sub_indices, sealed=max(0, len(sub_indices) - 1))

    def with_recycled(self, recycled: Recycled) -> Datastore:
        """This store, which also remembers what was likely where; what it remembered of the same places is replaced.

        At most `MOST_KEPT` places: first the new ones, those that were seen most often, then those it had before.
        """
        if not len(recycled):
            return self
        places = recycled.most_seen(MOST_KEPT)
        before = self.recycled.items() if self.recycled else ()
        others = ((key, top) for key, top in before if key not in places)
        kept = (*places.items(), *islice(others, MOST_KEPT - len(places)))
        return replace(self, recycled=RecycledTable.build(kept, self.dtype))

    def recalled(self, tokens: tuple[int, ...]) -> Top | None:
        """What the target held likely after these one or two tokens, if that was recorded."""
        return self.recycled.after(tokens) if self.recycled else None

    @property
    def tokens(self) -> int:
        """Number of tokens; separators do not count."""
        return sum(len(sub_index.tokens) - sub_index.documents for sub_index in self.sub_indices)

    @property
    def documents(self) -> int:
        return sum(sub_index.documents for sub_index in self.sub_indices)

    @property
    def nbytes(self) -> int:
        """Memory that it takes, mapped files included."""
        indices = sum(sub_index.nbytes for sub_index in self.sub_indices)
        return indices + (self.recycled.nbytes if self.recycled else 0)

    @property
    def id_limit(self) -> int:
        """All ids that it can hold are below this: the largest value of their type is the separator."""
        return int(np.iinfo(self.dtype).max)

    def count(self, query: Sequence[int]) -> int:
        """How often `query` (at least one token) occurs, overlaps included."""
        return sum(len(sub_index.find(query)) for sub_index in self.sub_indices)


def sample(sub_indices: Sequence[SubIndex], query: Sequence[int], most: int, length: int) -> list[list[int]]:
    """What followed `query`: at most `length` tokens after each of at most `most` evenly spaced occurrences.

    The ranges of all sub-indices are laid end to end and sampled as one, so a sub-index has its share by the number
    of its matches, and it makes no difference into how many sub-indices the same text was cut. A list is empty where
    a document ended after the query.
    """
    ranges = [sub_index.find(query) for sub_index in sub_indices]
    total = sum(map(len, ranges))
    taken = min(total, most)
    places = [number * total // taken for number in range(taken)]
    found: list[list[int]] = []
    start = first = 0
    for sub_index, ranks in zip(sub_indices, ranges, strict=True):
        last = bisect_left(places, start + len(ranks), first)
        if last > first:
            shift = ranks.start - start
            found += sub_index.continuations([place + shift for place in places[first:last]], len(query), length)
        start, first = start + len(ranks), last
    return found


def capacity(max_tokens: int, dtype: np.dtype) -> int:
    """Positions that a sub-index may have: what is asked for, unless it could not be sorted."""
    return min(max_tokens, MAX_BYTES // dtype.itemsize)


def token_dtype(vocab_size: int) -> np.dtype:
    """The smallest type for ids below `vocab_size` that leaves its largest value free for the separator."""
    return np.dtype(np.uint16 if vocab_size <= np.iinfo(np.uint16).max else np.uint32)


def _groups(documents: Iterable[ArrayLike], vocab_size: int, capacity: int) -> Iterator[list[NDArray]]:
    group: list[NDArray] = []
    room = capacity
    for piece in pieces(documents, vocab_size, capacity - 1):
        if len(piece) + 1 > room:
            yield group
            group, room = [], capacity
        group.append(piece)
        room -= len(piece) + 1
    if group:
        yield group


def pieces(documents: Iterable[ArrayLike], vocab_size: int, longest: int) -> Iterator[NDArray]:
    """`documents` of ids below `vocab_size`, those longer than `longest` tokens cut; raises `ValueError`."""
    for document in documents:
        ids = as_ids(document, vocab_size)
        for start in range(0, len(ids), longest):
            yield ids[start : start + longest]
