"""How often candidates of one kind came true in this conversation, against how often they were promised to."""

from __future__ import annotations

from collections.abc import Sequence

from sssd_demo.trace import ROOT, DraftTree, Source

BELIEF = 4.0  # promised acceptances that must be seen to outweigh the promise itself
Kind = tuple[Source, int, bool]  # source, tokens matched, whether it is a first token


class Trust:
    """A factor for each kind of candidate, learnt while drafting: acceptances ÷ their promised sum."""

    def __init__(self) -> None:
        self._promised: dict[Kind, float] = {}
        self._kept: dict[Kind, float] = {}
        self._tree: DraftTree | None = None

    def factor(self, kind: Kind) -> float:
        """What the probability promised by a candidate of this kind is to be multiplied with."""
        return (self._kept.get(kind, 0.0) + BELIEF) / (self._promised.get(kind, 0.0) + BELIEF)

    def drafted(self, tree: DraftTree) -> None:
        """This was proposed; what came of it is known at the next `learn`."""
        self._tree = tree

    def learn(self, followed: Sequence[int]) -> None:
        """`followed` is what was written since the last draft."""
        tree, self._tree = self._tree, None
        if tree is None or not followed:
            return
        depths = tree.depths()
        on_path = {ROOT}
        for node, token in enumerate(tree.tokens):
            parent, depth = tree.parents[node], depths[node]
            if parent not in on_path or depth > len(followed):
                continue  # nothing is known of what would have followed a token that was not written
            kind = (tree.sources[node], tree.match_lengths[node], depth == 1)
            above = tree.probs[parent] if parent != ROOT else 1.0
            self._promised[kind] = self._promised.get(kind, 0.0) + tree.probs[node] / above
            if token == followed[depth - 1]:
                on_path.add(node)
                self._kept[kind] = self._kept.get(kind, 0.0) + 1
