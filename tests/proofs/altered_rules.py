"""Seeded bugs: the real rules with one threshold or one law changed. Each must fail the proofs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from sssd_demo.rules import Choices, Comparison, Found, Laws, Number, Rule, Vector, block, number, traversal
from sssd_demo.trace import DraftTree

Q = Mapping[int, Vector]


@dataclass
class Altered:
    """Choices by other thresholds, or of tokens from other laws."""

    choices: Choices
    threshold: Callable[[int, Number, Comparison], Number] = lambda node, threshold, comparison: threshold
    law: Callable[[int, Vector], Vector] = lambda node, law: law

    def accept(self, node: int, threshold: Number, comparison: Comparison) -> bool:
        return self.choices.accept(node, self.threshold(node, threshold, comparison), comparison)

    def draw(self, node: int, law: Vector) -> int:
        return self.choices.draw(node, self.law(node, law))


def at_most(rule: Rule) -> Rule:
    """`rand <= p`, by which a coin of 0 accepts what is impossible; shown with coins of 64 values."""

    def wrong(tree: DraftTree, p: Laws, q: Q, choices: Choices) -> Found:
        return rule(tree, p, q, Altered(choices, threshold=lambda node, threshold, _: threshold + Fraction(1, 64)))

    return wrong


def draws_from_all_of_p(rule: Rule) -> Rule:
    """Refuses, and then draws as if nothing had been refused."""

    def wrong(tree: DraftTree, p: Laws, q: Q, choices: Choices) -> Found:
        return rule(tree, p, q, Altered(choices, law=lambda node, _: p[1 + node]))

    return wrong


def last_ratio_uncapped(tree: DraftTree, p: Laws, q: Q, choices: Choices) -> Found:
    """The whole draft is accepted by the plain product of all ratios, as in the code released with arXiv 2601.05724."""
    product: Number = 1
    for node, token in enumerate(tree.tokens):
        product = product * number(p[node][token]) / number(q[node][token])
    last = len(tree) - 1
    uncapped = Altered(choices, threshold=lambda node, threshold, _: product if node == last else threshold)
    return block(tree, p, q, uncapped)


@dataclass
class _UntilRefused:
    choices: Choices
    refused: bool = False

    def accept(self, node: int, threshold: Number, comparison: Comparison) -> bool:
        if not self.refused:
            self.refused = not self.choices.accept(node, threshold, comparison)
        return not self.refused

    def draw(self, node: int, law: Vector) -> int:
        return self.choices.draw(node, law)


def stops_at_the_first_failure(tree: DraftTree, p: Laws, q: Q, choices: Choices) -> Found:
    """Block verification that ends where a step fails, and does not look for a later success."""
    return block(tree, p, q, _UntilRefused(choices))


def block_with_the_chains_residual(tree: DraftTree, p: Laws, q: Q, choices: Choices) -> Found:
    """Draws from norm([p − q]+), where the way to that place has to be weighed in."""

    def law(node: int, _: Vector) -> Vector:
        row = 1 + node
        return Comparison(p[row], q[row]).residual(otherwise=p[row]) if row in q else p[row]

    return block(tree, p, q, Altered(choices, law=law))


def tests_a_node_by_its_ratio_alone(tree: DraftTree, p: Laws, q: Q, choices: Choices) -> Found:
    """Forgets that the children of the node have been refused by then."""
    by_ratio = Altered(choices, threshold=lambda node, _, comparison: comparison.ratio(tree.tokens[node]))
    return traversal(tree, p, q, by_ratio)
