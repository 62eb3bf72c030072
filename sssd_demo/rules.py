"""The acceptance rules: from the laws p and q to the accepted path and the token that ends the round.

Each is exact: whatever was drafted, the law of the emitted tokens is the target's. They are written for vectors of any
numbers, torch tensors in production and arrays of fractions in the proofs, and for any source of decisions
(`Choices`): coins in production, all possible outcomes with their weights in the proofs.

* `top_down` (rules "chain" and "tree"): a sampled child x is accepted with probability P(x)/Q(x), else P becomes
  norm([P − Q]+) (Leviathan et al., arXiv 2211.17192; SpecInfer, arXiv 2305.09781). When no sampled child is left, the
  target draws from P, and descends if a point-mass child holds that token.
* `block` (one chain): accepts the longest prefix that can be afforded jointly (Sun et al., arXiv 2403.10444).
* `traversal` (trees): tests leaves before their parents (Weng et al., arXiv 2505.12398).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from sssd_demo.trace import ROOT, DraftTree

Number = Any  # a float, or a fraction
Vector = Any  # of numbers, one for each token of the vocabulary; indexed, subtracted, clipped and summed
Found = tuple[list[int], int]  # the accepted path, node indices by depth, and the token drawn after it


@dataclass(frozen=True)
class Comparison:
    """What is left of the target's law at a node, P, held against the law Q that a child was drawn from.

    `weight` is how much of the way to this node is still to be paid for: 1 in `top_down`.
    """

    p: Vector
    q: Vector
    weight: Number = 1

    def ratio(self, token: int) -> Number:
        return self.weight * number(self.p[token]) / number(self.q[token])

    @cached_property
    def mass(self) -> Number:
        """Σ [weight · P − Q]+"""
        return number(self._excess.sum())

    def residual(self, otherwise: Vector) -> Vector:
        """norm([weight · P − Q]+), or `otherwise` where rounding left nothing of it."""
        return self._excess / self.mass if self.mass else otherwise

    @cached_property
    def _excess(self) -> Vector:
        return (self.weight * self.p - self.q).clip(0)


class Choices(Protocol):
    """Decides. Every decision is independent of all others."""

    def accept(self, node: int, threshold: Number, comparison: Comparison) -> bool:
        """True with probability min(1, `threshold`); `comparison` is what the threshold came from."""

    def draw(self, node: int, law: Vector) -> int:
        """The target's token after `node`, or after the root, with the probabilities of `law`."""


class Laws(Protocol):
    """The target's laws by row, 1 + nodes of them: row 0 after the root, row 1 + i after node i."""

    def __getitem__(self, row: int, /) -> Vector: ...


Rule = Callable[[DraftTree, Laws, Mapping[int, Vector], Choices], Found]


def top_down(tree: DraftTree, p: Laws, q: Mapping[int, Vector], choices: Choices) -> Found:
    """For chains and trees, whose nodes may be sampled, point masses or both.

    `q[row]` is the law of the sampled children of a row. These are tested in the order in which they were drawn, and
    before their point-mass siblings.
    """
    children = tree.children()
    path: list[int] = []
    node = ROOT
    while True:
        following, left = _test_sampled(tree, children.get(node, []), p[1 + node], q.get(1 + node), choices)
        if following is None:
            token = choices.draw(node, left)
            points = (child for child in children.get(node, []) if tree.laws[child] == "point")
            following = next((child for child in points if tree.tokens[child] == token), None)
            if following is None:
                return path, token
        path.append(following)
        node = following


def _test_sampled(
    tree: DraftTree, children: Sequence[int], p: Vector, q: Vector, choices: Choices
) -> tuple[int | None, Vector]:
    """The sampled child that is accepted, if one is, and what is left of p."""
    left = p
    for child in children:
        if tree.laws[child] == "point":
            continue
        token = tree.tokens[child]
        comparison = Comparison(left, q)
        if choices.accept(child, comparison.ratio(token), comparison):
            return child, left
        left = comparison.residual(otherwise=p)
        q = _after_drawing(tree, child, q)
    return None, left


def block(tree: DraftTree, p: Laws, q: Mapping[int, Vector], choices: Choices) -> Found:
    """For one sampled chain. Expected to accept at least as much as `top_down`.

    "Hierarchical" verification (arXiv 2601.05724) is this rule where its last ratio is capped at 1 like the others;
    without the cap it is not exact (`tests/test_rules.py` shows both).
    """
    steps = len(tree)
    weights: list[Number] = [1]
    comparisons = []
    for node in range(steps):
        comparisons.append(Comparison(p[node], q[node], weights[node]))
        weights.append(min(1, comparisons[node].ratio(tree.tokens[node])))
    accepted = 0
    for node in range(steps):  # every coin is tossed: the last success counts, not the first failure
        weight = weights[node + 1]
        threshold = _joint(comparisons[node + 1].mass, weight) if node + 1 < steps else weight
        if choices.accept(node, threshold, comparisons[node]):
            accepted = node + 1
    law = p[accepted] if accepted == steps else comparisons[accepted].residual(otherwise=p[accepted])
    return list(range(accepted)), choices.draw(accepted - 1, law)


def traversal(tree: DraftTree, p: Laws, q: Mapping[int, Vector], choices: Choices) -> Found:
    """For trees of sampled nodes: a child's subtree is tried before the next child, and a node after its children."""
    children = tree.children()

    def visit(node: int, weight: Number, reached_by: Comparison | None) -> Found | None:
        left, drawn_from = p[1 + node], q.get(1 + node)
        for child in children.get(node, []):
            comparison = Comparison(left, drawn_from, weight)
            found = visit(child, min(1, comparison.ratio(tree.tokens[child])), comparison)
            if found is not None:
                return [child, *found[0]], found[1]
            left = comparison.residual(otherwise=p[1 + node])
            weight = _joint(comparison.mass, weight)
            drawn_from = _after_drawing(tree, child, drawn_from)
        if reached_by is None or choices.accept(node, weight, reached_by):  # the root is accepted in any case
            return [], choices.draw(node, left)
        return None

    found = visit(ROOT, 1, None)
    assert found is not None
    return found


def _joint(mass: Number, weight: Number) -> Number:
    """The probability to accept a node of `weight` when what may follow has `mass` left: S / (S + 1 − w)."""
    return mass / (mass + 1 - weight) if mass or weight != 1 else 1


def _after_drawing(tree: DraftTree, child: int, q: Vector) -> Vector:
    """The law of the next sibling: the same, or what the child's token leaves of it where siblings are distinct."""
    return q if tree.laws[child] == "sampled" else without(q, tree.tokens[child])


def without(law: Vector, token: int) -> Vector:
    """`law` without one token, normalised; zeros if nothing is left. Drafter and verifier must both use this one."""
    rest = law + 0
    rest[token] = 0
    mass = number(rest.sum())
    return rest / mass if mass else rest


def number(value: Any) -> Number:
    """A tensor's or array's single value as a plain number; a fraction as it is."""
    return value.item() if hasattr(value, "item") else value
