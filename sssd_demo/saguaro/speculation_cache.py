"""The drafts that were prepared for the outcomes of one verification, by outcome. It lives for one round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

from sssd_demo.saguaro.fan_out import Key, rank
from sssd_demo.trace import ROOT, DraftTree, Law, Source


@dataclass(frozen=True)
class SpeculationCache:
    """What was prepared while the target verified `tree`, whose root was the token before `position` of the text.

    `logits` [1 + nodes, V] are the draft model's. Drafts stand in the order of their keys: by depth, then most likely
    first.
    """

    position: int
    tree: DraftTree
    logits: torch.Tensor
    drafts: Mapping[Key, DraftTree]

    def outcomes(self) -> tuple[tuple[int, int], ...]:
        """The keys as (number accepted, bonus token)."""
        return tuple((self.tree.depth(node), bonus) for node, bonus in self.drafts)

    def look_up(self, path: Sequence[int], bonus: int) -> DraftTree | None:
        """The draft for an outcome: `path` holds the accepted nodes by depth."""
        return self.drafts.get((_end(path), bonus))

    def rank(self, path: Sequence[int], bonus: int) -> int:
        """The bonus's place among the draft model's guesses after the path, from 1."""
        end = _end(path)
        drafted = [self.tree.tokens[child] for child in self.tree.children().get(end, [])]
        return rank(bonus, self.logits[1 + end], drafted)

    def nearest(self, path: Sequence[int], bonus: int) -> DraftTree:
        """What the prepared outcome that has most in common with the one that came true would have gone on with.

        The two texts are laid side by side, position by position. The tokens are candidates without chance: whether
        they come true is up to the target alone, so that they may be offered whatever they were drawn from.
        """
        text = [*(self.tree.tokens[node] for node in path), bonus]
        best: tuple[int, tuple[int, ...]] = (-1, ())
        for (node, guess), draft in self.drafts.items():
            prepared = (*(self.tree.tokens[step] for step in self.tree.path_to(node)), guess, *draft.tokens)
            common = 0
            while common < min(len(text), len(prepared)) and text[common] == prepared[common]:
                common += 1
            if common > best[0]:
                best = (common, prepared[len(text) :])
        unsaid = [0.0] * len(best[1])  # the draft model said nothing about them after this text
        return model_chain(best[1], unsaid, "point")


def model_chain(tokens: Sequence[int], probs: Sequence[float], law: Law) -> DraftTree:
    """Tokens of the draft model's one after the other, all of the same law."""
    count = len(tokens)
    source: Source = "model"
    return DraftTree(
        tokens=tuple(tokens),
        parents=tuple(range(ROOT, count - 1)),
        probs=tuple(probs),
        laws=(law,) * count,
        sources=(source,) * count,
        match_lengths=(0,) * count,
    )


def _end(path: Sequence[int]) -> int:
    return path[-1] if path else ROOT
