"""Seeded bugs: drafters that report another law than they draw from. Each must fail the proofs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sssd_demo.rules import Vector, number
from sssd_demo.trace import ROOT, DraftTree, Law
from tests.proofs.drafting import Draft, DraftModel, Draw, Shape, draft, tree_of
from tests.proofs.worlds import Text


def reports_the_raw_law(model: DraftModel, shape: Shape, text: Text, draw: Draw) -> Draft:
    """Draws with a temperature, and reports the law without it."""
    made = draft(model, shape, text, draw)
    paths = {row: tuple(made.tree.tokens[node] for node in made.tree.path_to(row - 1)) for row in made.q}
    return Draft(made.tree, {row: model.raw_q(text + path) for row, path in paths.items()})


def takes_the_most_likely(model: DraftModel, shape: Shape, text: Text, draw: Draw) -> Draft:
    """Picks the k most likely tokens, and says that they were sampled."""
    best = draft(model, _lawful(shape, "distinct"), text, lambda node, law: max(range(len(law)), key=lambda x: law[x]))
    return _relabelled(best, "sampled")


def draws_without_replacement(model: DraftModel, shape: Shape, text: Text, draw: Draw) -> Draft:
    """Draws distinct siblings, and reports each as drawn from q."""
    return _relabelled(draft(model, _lawful(shape, "distinct"), text, draw), "sampled")


def drops_the_unlikely(model: DraftModel, shape: Shape, text: Text, draw: Draw) -> Draft:
    """Takes a sampled token out again, with all below it, where its own q is low."""
    return _only(draft(model, shape, text, draw), lambda tree, node, q: number(q[tree.tokens[node]]) >= 0.35)


def merges_equal_siblings(model: DraftModel, shape: Shape, text: Text, draw: Draw) -> Draft:
    """Takes a sampled token out again where an earlier sibling is the same."""

    def is_first(tree: DraftTree, node: int, q: Vector) -> bool:
        return not any(
            tree.parents[other] == tree.parents[node] and tree.tokens[other] == tree.tokens[node]
            for other in range(node)
        )

    return _only(draft(model, shape, text, draw), is_first)


def _lawful(shape: Shape, law: Law) -> Shape:
    return replace(shape, laws=(law,) * len(shape.parents))


def _relabelled(made: Draft, law: Law) -> Draft:
    return Draft(replace(made.tree, laws=(law,) * len(made.tree)), made.q)


def _only(made: Draft, keep: Callable[[DraftTree, int, Vector], bool]) -> Draft:
    """The draft without the sampled nodes that are not kept, and what is below them."""
    tree = made.tree
    places = {ROOT: ROOT}
    for node, parent in enumerate(tree.parents):
        if parent in places and (tree.laws[node] == "point" or keep(tree, node, made.q[1 + parent])):
            places[node] = len(places) - 1
    kept = [node for node in places if node != ROOT]
    parents = [places[tree.parents[node]] for node in kept]
    smaller = tree_of([tree.tokens[node] for node in kept], parents, [tree.laws[node] for node in kept])
    return Draft(smaller, {1 + places[row - 1]: law for row, law in made.q.items() if row - 1 in places})
