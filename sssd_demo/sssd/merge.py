"""Candidates of several sources → one draft tree, best first, within one budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from sssd_demo.sssd.node import POINT, Node
from sssd_demo.trace import EMPTY_TREE, ROOT, DraftTree


@dataclass(frozen=True)
class Seed:
    """Where a source's candidates begin: the children of `node` may follow the root of the draft tree.

    The score of a candidate at depth d is weight · decay^(d-1) · Π count(child) / count(parent).
    """

    node: Node
    weight: float
    decay: float
    first_cap: int  # most children of `node` itself
    match_length: int = 0  # 0: each node knows its own


def merge(seeds: Sequence[Seed], s_q: int, children_cap: int) -> DraftTree:
    """The best `s_q` - 1 candidates of all seeds as a tree of point-mass nodes; `probs` are their scores.

    One heap over all sources (arXiv 2411.05894). The best candidate is attached below its parent; where another
    source has put the same token there already, the node is shared and costs nothing. Below a node a source proposes
    at most `children_cap` tokens. Equal scores: the deeper candidate first, then the earlier seed, the older parent,
    the source's own order.
    """
    if s_q <= 1:
        return EMPTY_TREE
    heap: list[tuple[float, int, int, int, int, Node]] = []

    def propose(node: Node, score: float, cap: int, depth: int, rank: int, parent: int) -> None:
        per_count = score / node.count
        for order, child in enumerate(node.best_children(cap)):
            heappush(heap, (-per_count * child.count, -depth, rank, parent, order, child))

    for rank, seed in enumerate(seeds):
        propose(seed.node, seed.weight, seed.first_cap, 1, rank, ROOT)

    places: dict[tuple[int, int], int] = {}  # (parent, token) → place in the tree
    parents: list[int] = []
    attached: list[Node] = []
    scores: list[float] = []
    match_lengths: list[int] = []
    while heap and len(attached) < s_q - 1:
        negative, minus_depth, rank, parent, _, node = heappop(heap)
        seed = seeds[rank]
        place = places.setdefault((parent, node.token), len(attached))
        if place == len(attached):
            attached.append(node)
            parents.append(parent)
            scores.append(-negative)
            match_lengths.append(seed.match_length or node.match_length)
        propose(node, -negative * seed.decay, children_cap, 1 - minus_depth, rank, place)
    return DraftTree(
        tokens=tuple([node.token for node in attached]),
        parents=tuple(parents),
        probs=tuple(scores),
        laws=(POINT,) * len(attached),
        sources=tuple([node.source for node in attached]),
        match_lengths=tuple(match_lengths),
    )
