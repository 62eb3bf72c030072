"""How far a drafter's scores can be believed in this answer: the running acceptance that lengths are planned by."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate

from sssd_demo.trace import DraftTree

EDGES = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85)  # of the classes that scores are sorted into
BELIEF = 10.0  # nodes that must be seen to outweigh the score itself
MEMORY = 0.98  # what a round leaves of the counts before it: texts change as they go on


class Acceptance:
    """Of drafted nodes with about the same score, the share that lay on the accepted path, in one answer so far.

    Every node tells: verification finds out about all of them whether they are on the path. Before any was seen, a
    score is taken as the probability that it claims to be.
    """

    def __init__(self) -> None:
        self._drafted = [0.0] * (len(EDGES) + 1)
        self._accepted = [0.0] * (len(EDGES) + 1)

    def expected(self, scores: Iterable[float]) -> Sequence[float]:
        """Tokens accepted of the first 0, 1, 2, … nodes, to be expected from their scores."""
        return list(accumulate(map(self._probability, scores), initial=0.0))

    def observe(self, tree: DraftTree, path: Iterable[int]) -> None:
        """A tree was verified; `path` holds the indices of its accepted nodes."""
        if not len(tree):
            return
        self._drafted = [MEMORY * count for count in self._drafted]
        self._accepted = [MEMORY * count for count in self._accepted]
        for score in tree.probs:
            self._drafted[bisect_left(EDGES, score)] += 1
        for node in path:
            self._accepted[bisect_left(EDGES, tree.probs[node])] += 1

    def _probability(self, score: float) -> float:
        at = bisect_left(EDGES, score)
        return (self._accepted[at] + BELIEF * min(score, 1.0)) / (self._drafted[at] + BELIEF)
