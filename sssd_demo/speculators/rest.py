"""REST: what followed the longest match in a datastore, the most frequent prefixes as a tree (arXiv 2311.08252)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from collections.abc import Sequence as Seq
from heapq import heappop, heappush, nlargest
from itertools import count, pairwise

import numpy as np

from sssd_demo.speculators.protocol import Outcome, Sequence
from sssd_demo.sssd.drafter import Store
from sssd_demo.sssd.node import POINT
from sssd_demo.sssd.sub_index import SubIndex
from sssd_demo.trace import EMPTY_TREE, ROOT, DraftTree, Source

LONGEST, SHORTEST = 16, 2  # tokens that must match (authors' defaults)
MATCHES = 5000  # at most, evenly spaced where there are more (authors': the first ones of each part of the store)
AHEAD = 10  # tokens read after a match (authors' default)
SOURCE: Source = "datastore"

Ranges = list[tuple[SubIndex, range]]  # ranks in each sub-index: suffixes that begin alike stand together


class Rest:
    """Draws from the stores alone; without one nothing is drafted.

    `open_store` gives the store of a name, which may grow meanwhile, or raises `UserError`, as then does `begin`.
    """

    learns_from_top = False

    def __init__(self, open_store: Callable[[str], Store]) -> None:
        self._open_store = open_store
        self._stores: dict[int, list[Store]] = {}

    def begin(self, sequence: Sequence) -> None:
        self._stores[sequence.id] = [self._open_store(name) for name in sequence.stores]

    def propose(self, sequences: Seq[Sequence]) -> list[DraftTree]:
        return [self._draft(sequence) for sequence in sequences]

    def observe(self, outcomes: Seq[Outcome]) -> None:
        """Nothing to learn: only the stores are asked."""

    def end(self, sequence: Sequence) -> None:
        self._stores.pop(sequence.id, None)  # absent if `begin` failed

    def _draft(self, sequence: Sequence) -> DraftTree:
        if sequence.s_q <= 1:
            return EMPTY_TREE
        sub_indices = [sub_index for store in self._stores[sequence.id] for sub_index in store.sub_indices]
        length, ranges = _longest_match(sub_indices, sequence.tokens[-LONGEST:])
        return _most_frequent(length, ranges, sequence.s_q - 1)


def _longest_match(sub_indices: Seq[SubIndex], recent: Seq[int]) -> tuple[int, Ranges]:
    """The length of the longest end of `recent` that went on somewhere, and where it stands; (0, []) if none did."""
    lengths = range(SHORTEST, len(recent) + 1)

    def unknown(length: int) -> bool:
        return not any(sub_index.find(recent[-length:]) for sub_index in sub_indices)

    known = bisect_left(lengths, True, key=unknown)  # where a run stands, every end of it stands too
    for length in reversed(lengths[:known]):
        ranges = [(sub_index, sub_index.find(recent[-length:])) for sub_index in sub_indices]
        step = -(-sum(len(ranks) for _, ranks in ranges) // MATCHES)
        ranges = [(sub_index, ranks[::step]) for sub_index, ranks in ranges if ranks]
        if any(True for _ in _next_tokens(ranges, length)):  # not only at the very end of documents
            return length, ranges
    return 0, []


def _most_frequent(length: int, ranges: Ranges, room: int) -> DraftTree:
    """The `room` most frequent prefixes of what followed a match of `length` tokens; of equals, the longer one.

    A prefix is never more frequent than its own prefixes, so parents come before children. The score is the share of
    the matches that went on so.
    """
    total = sum(len(ranks) for _, ranks in ranges)
    heap: list[tuple[int, int, int, int, int, Ranges]] = []
    order = count()

    def offer(followed: Ranges, depth: int, parent: int) -> None:
        by_token: dict[int, Ranges] = {}
        for sub_index, token, ranks in _next_tokens(followed, length + depth):
            by_token.setdefault(token, []).append((sub_index, ranks))
        sized = [(sum(len(ranks) for _, ranks in part), token, part) for token, part in by_token.items()]
        for matches, token, part in nlargest(room, sized, key=lambda one: one[0]):
            heappush(heap, (-matches, -depth, next(order), parent, token, part))

    offer(ranges, 0, ROOT)
    tokens: list[int] = []
    parents: list[int] = []
    scores: list[float] = []
    while heap and len(tokens) < room:
        negative, minus_depth, _, parent, token, followed = heappop(heap)
        tokens.append(token)
        parents.append(parent)
        scores.append(-negative / total)
        if 1 - minus_depth < AHEAD:
            offer(followed, 1 - minus_depth, len(tokens) - 1)
    nodes = len(tokens)
    return DraftTree(
        tokens=tuple(tokens),
        parents=tuple(parents),
        probs=tuple(scores),
        laws=(POINT,) * nodes,
        sources=(SOURCE,) * nodes,
        match_lengths=(length,) * nodes,
    )


def _next_tokens(ranges: Ranges, offset: int) -> Iterator[tuple[SubIndex, int, range]]:
    """The tokens at `offset` of the suffixes in `ranges`, each with those suffixes; ends of documents are left out."""
    for sub_index, ranks in ranges:
        places = np.asarray(sub_index.suffixes)[ranks.start : ranks.stop : ranks.step]
        tokens = np.asarray(sub_index.tokens)[places + offset]
        changes = (np.flatnonzero(tokens[1:] != tokens[:-1]) + 1).tolist()  # the suffixes are in order
        bounds = [0, *changes, len(tokens)]
        for token, (start, stop) in zip(tokens[bounds[:-1]].tolist(), pairwise(bounds), strict=True):
            if token != sub_index.separator:
                yield sub_index, token, ranks[start:stop]
