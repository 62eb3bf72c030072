"""Everything a store knows about a few tokens: how often they occur, where, what followed, and the trie that makes.

For people, not for drafting: it counts exactly where a draft samples. It knows neither a tokenizer nor who may see
what. Counts of long matches, and of what followed, let a text be read out; so of a store whose text is nobody's to see,
a caller shows next to nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from sssd_demo.sssd.constants import DEFAULT, Settings
from sssd_demo.sssd.sampled import SampledNode, look_up
from sssd_demo.sssd.sub_index import SubIndex
from sssd_demo.trace import ROOT

MOST_COUNTED = 100_000  # occurrences; of more, as many are looked at, evenly spaced
MOST_PLACES = 5
AROUND = 12  # tokens shown before and after an occurrence
MOST_BRANCHES = 18  # nodes of the trie


@dataclass(frozen=True)
class Place:
    """One occurrence: in which sub-index and document (both from 0), at which of its tokens, and what stands around."""

    sub_index: int
    document: int
    position: int
    before: tuple[int, ...]
    after: tuple[int, ...]


@dataclass(frozen=True)
class Follower:
    """A next token and how often it came next."""

    token: int
    count: int


@dataclass(frozen=True)
class Match:
    """What is known of the last `length` tokens of a query."""

    length: int
    count: int  # occurrences, overlaps included
    per_sub_index: tuple[int, ...]
    looked_at: int  # of them; fewer than `count` only above `MOST_COUNTED`
    followers: tuple[Follower, ...]  # most frequent first; counts are of those looked at
    ended: int  # of those looked at: the document ended there
    places: tuple[Place, ...]  # at most `MOST_PLACES`, evenly spaced over all occurrences


@dataclass(frozen=True)
class Branch:
    """A node of the trie that the samples make; `parent` is an index or `ROOT`, parents come first."""

    token: int
    parent: int
    count: int  # samples that run through it


@dataclass(frozen=True)
class Exploration:
    """All that a store says to one query."""

    query: tuple[int, ...]  # the tokens that were looked up: as many of the last ones as a draft looks up
    matches: tuple[Match, ...]  # for every length, longest first; those that do not occur have a count of 0
    samples: int  # continuations that a draft would take, occurrences of several lengths together
    branches: tuple[Branch, ...]
    sampled_lengths: tuple[int, ...] = ()  # of the matches that the samples are from, longest first

    @property
    def longest(self) -> Match | None:
        """The longest match that occurs."""
        return next((match for match in self.matches if match.count), None)


def explore(
    sub_indices: Sequence[SubIndex], ids: Sequence[int], *, s_q: int = 16, settings: Settings = DEFAULT
) -> Exploration:
    """What `sub_indices` hold about the end of `ids`. The trie is that of a draft of `s_q` tokens, root included."""
    query = tuple(ids[-settings.longest_match :])
    matches = tuple(_match(sub_indices, query[-length:]) for length in range(len(query), 0, -1))
    root = look_up(sub_indices, query, s_q, settings) if query else None
    if root is None:
        return Exploration(query, matches, 0, ())
    lengths = tuple(node.match_length for node in reversed(root.by_match_length()))
    return Exploration(query, matches, root.count, _branches(root), lengths)


def _match(sub_indices: Sequence[SubIndex], query: tuple[int, ...]) -> Match:
    ranges = [sub_index.find(query) for sub_index in sub_indices]
    counts = tuple(map(len, ranges))
    total = sum(counts)
    stride = max(1, -(-total // MOST_COUNTED))
    next_tokens: Counter[int] = Counter()
    ended = 0
    for sub_index, ranks in zip(sub_indices, ranges, strict=True):
        starts = sub_index.suffixes[ranks.start : ranks.stop : stride]
        tokens, numbers = np.unique(sub_index.tokens[starts + len(query)], return_counts=True)
        found = dict(zip(tokens.tolist(), numbers.tolist(), strict=True))
        ended += found.pop(sub_index.separator, 0)
        next_tokens.update(found)
    return Match(
        length=len(query),
        count=total,
        per_sub_index=counts,
        looked_at=next_tokens.total() + ended,
        followers=tuple(Follower(token, count) for token, count in next_tokens.most_common()),
        ended=ended,
        places=_places(sub_indices, ranges, len(query)),
    )


def _places(sub_indices: Sequence[SubIndex], ranges: Sequence[range], length: int) -> tuple[Place, ...]:
    total = sum(map(len, ranges))
    taken = min(total, MOST_PLACES)
    wanted = [number * total // taken for number in range(taken)]
    places: list[Place] = []
    passed = 0
    for number, (sub_index, ranks) in enumerate(zip(sub_indices, ranges, strict=True)):
        mine = [place - passed for place in wanted if passed <= place < passed + len(ranks)]
        passed += len(ranks)
        if mine:
            borders = np.flatnonzero(sub_index.tokens == sub_index.separator)
            places += [_place(number, sub_index, borders, int(sub_index.suffixes[ranks[at]]), length) for at in mine]
    return tuple(places)


def _place(number: int, sub_index: SubIndex, borders: np.ndarray, position: int, length: int) -> Place:
    document = int(np.searchsorted(borders, position))
    start = int(borders[document - 1]) + 1 if document else 0
    end = int(borders[document])
    after = position + length
    return Place(
        sub_index=number,
        document=document,
        position=position - start,
        before=tuple(sub_index.tokens[max(start, position - AROUND) : position].tolist()),
        after=tuple(sub_index.tokens[after : min(end, after + AROUND)].tolist()),
    )


def _branches(root: SampledNode) -> tuple[Branch, ...]:
    """The nodes that the most samples run through, each after its parent."""
    branches: list[Branch] = []
    heap: list[tuple[int, int, int, int, SampledNode]] = []

    def propose(node: SampledNode, depth: int, place: int) -> None:
        for order, child in enumerate(node.best_children(MOST_BRANCHES)):
            heappush(heap, (-child.count, -depth, place, order, child))

    propose(root, 1, ROOT)
    while heap and len(branches) < MOST_BRANCHES:
        _, minus_depth, parent, _, node = heappop(heap)
        branches.append(Branch(node.token, parent, node.count))
        propose(node, 1 - minus_depth, len(branches) - 1)
    return tuple(branches)
