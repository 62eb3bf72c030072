"""An honest drafter for the proofs: it draws each node from the law that it reports.

It works on arrays of fractions and on tensors, so that exact proofs and Monte Carlo draft alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from sssd_demo.rules import number, without
from sssd_demo.trace import ROOT, DraftTree, Law, Source
from tests.proofs.worlds import Text, Vector


class DraftModel(Protocol):
    vocabulary: int

    def q(self, text: Text) -> Vector: ...

    def raw_q(self, text: Text) -> Vector: ...


@dataclass(frozen=True)
class Shape:
    """A tree that is to be drafted; all of it, unless tokens run out or a token ends its branch."""

    name: str
    parents: tuple[int, ...]
    laws: tuple[Law, ...]
    ends: frozenset[int] = frozenset()  # tokens after which nothing is drafted, as after end-of-text

    @property
    def depth(self) -> int:
        return max(DraftTree(parents=self.parents).depths(), default=0)


@dataclass
class Draft:
    """What a drafter hands over: the tree, and the law of each row's sampled children."""

    tree: DraftTree
    q: dict[int, Vector] = field(default_factory=dict)


Draw = Callable[[int, Vector], int]  # (node, law) → token
Drafter = Callable[[DraftModel, Shape, Text, Draw], Draft]


def draft(model: DraftModel, shape: Shape, text: Text, draw: Draw) -> Draft:
    """`shape` after `text`. Distinct siblings of which no other token is left are not drafted, nor what is below."""
    tokens: list[int] = []
    parents: list[int] = []
    laws: list[Law] = []
    q: dict[int, Vector] = {}
    placed = {ROOT: ROOT}  # the shape's node → the tree's
    paths: dict[int, Text] = {ROOT: ()}
    for node, (above, law) in enumerate(zip(shape.parents, shape.laws, strict=True)):
        if above not in placed or (paths[above] and paths[above][-1] in shape.ends):
            continue
        siblings = [child for child in range(len(tokens)) if parents[child] == placed[above]]
        if law == "point":
            token = _pick(model.vocabulary, node, [tokens[child] for child in siblings])
        else:
            drawn_from: Vector = q.setdefault(1 + placed[above], model.q(text + paths[above]))
            for child in siblings:
                if laws[child] == "distinct":
                    drawn_from = without(drawn_from, tokens[child])
            if not number(drawn_from.sum()):
                continue
            token = draw(len(tokens), drawn_from)
        placed[node] = len(tokens)
        paths[node] = (*paths[above], token)
        tokens.append(token)
        parents.append(placed[above])
        laws.append(law)
    return Draft(tree_of(tokens, parents, laws), q)


def tree_of(tokens: list[int], parents: list[int], laws: list[Law]) -> DraftTree:
    source: Source = "model"
    count = len(tokens)
    return DraftTree(
        tuple(tokens), tuple(parents), (0.5,) * count, tuple(laws), (source,) * count, match_lengths=(0,) * count
    )


def _pick(vocabulary: int, node: int, siblings: list[int]) -> int:
    """A candidate chosen by looking at its siblings: sometimes the same token, sometimes another."""
    return (siblings[0] + node % 2) % vocabulary if siblings else node % vocabulary
