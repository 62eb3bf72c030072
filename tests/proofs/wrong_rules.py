"""Seeded bugs: rules that go down a tree, and are wrong. Each must fail the proofs.

Like the real rules they work on fractions and on tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sssd_demo.rules import Choices, Comparison, Found, Laws, Number, Vector, number, without
from sssd_demo.trace import ROOT, DraftTree

Q = Mapping[int, Vector]


def accepts_everything(tree: DraftTree, p: Laws, q: Q, choices: Choices) -> Found:
    path = _first_branch(tree, lambda child: True)
    end = path[-1] if path else ROOT
    return path, choices.draw(end, p[1 + end])


def accepts_by_argmax(tree: DraftTree, p: Laws, q: Q, choices: Choices) -> Found:
    """Takes a child if it is the target's most likely token, at any temperature."""

    def is_best(child: int) -> bool:
        law = p[1 + tree.parents[child]]
        return tree.tokens[child] == max(range(len(law)), key=lambda token: law[token])

    path = _first_branch(tree, is_best)
    end = path[-1] if path else ROOT
    return path, choices.draw(end, p[1 + end])


def _first_branch(tree: DraftTree, accepted: Callable[[int], bool]) -> list[int]:
    path: list[int] = []
    while children := [child for child in tree.children().get(path[-1] if path else ROOT, []) if accepted(child)]:
        path.append(children[0])
    return path


def tests_every_sibling_against_all_of_p(tree: DraftTree, p: Laws, q: Q, choices: Choices) -> Found:
    """Draws from the residual at the end, but does not take it along from one sibling to the next."""
    children = tree.children()
    path: list[int] = []
    node = ROOT
    while True:
        left = p[1 + node]
        for child in children.get(node, []):
            comparison = Comparison(p[1 + node], q[1 + node])
            if choices.accept(child, comparison.ratio(tree.tokens[child]), comparison):
                break
            left = comparison.residual(otherwise=p[1 + node])
        else:
            return path, choices.draw(node, left)
        path.append(child)
        node = child


def tests_as_if_drawn_to_be_distinct(tree: DraftTree, p: Laws, q: Q, choices: Choices) -> Found:
    """Takes each refused token out of q, though the next sibling was drawn from all of q."""
    children = tree.children()
    path: list[int] = []
    node = ROOT
    while True:
        left, law = p[1 + node], q.get(1 + node)
        for child in children.get(node, []):
            token = tree.tokens[child]
            comparison = Comparison(left, law)
            if number(comparison.q[token]) and choices.accept(child, comparison.ratio(token), comparison):
                break
            left = comparison.residual(otherwise=p[1 + node])
            law = without(comparison.q, token)
        else:
            return path, choices.draw(node, left)
        path.append(child)
        node = child


def candidates_refused_without_residual(tree: DraftTree, p: Laws, q: Q, choices: Choices) -> Found:
    """Tests each candidate by p(x), and then draws from p as if none had been refused."""
    children = tree.children()
    path: list[int] = []
    node = ROOT
    while True:
        law = p[1 + node]
        for child in children.get(node, []):
            comparison = Comparison(law, _one_hot(law, tree.tokens[child]))
            if choices.accept(child, comparison.ratio(tree.tokens[child]), comparison):
                break
        else:
            return path, choices.draw(node, law)
        path.append(child)
        node = child


def running_sum_with_duplicates(tree: DraftTree, p: Laws, q: Q, choices: Choices) -> Found:
    """One coin against the running sum of the candidates' probabilities, where a duplicate counts twice."""
    children = tree.children()
    path: list[int] = []
    node = ROOT
    while True:
        passed: Number = 0
        rest = p[1 + node] + 0
        following = None
        for child in children.get(node, []):
            token = tree.tokens[child]
            share = number(p[1 + node][token])
            if passed < 1 and choices.accept(
                child, share / (1 - passed), Comparison(p[1 + node], _one_hot(p[1 + node], token))
            ):
                following = child
                break
            passed += share
            rest[token] = 0
        if following is None:
            mass = number(rest.sum())
            return path, choices.draw(node, rest / mass if mass else p[1 + node])
        path.append(following)
        node = following


def candidates_before_the_sampled(tree: DraftTree, p: Laws, q: Q, choices: Choices) -> Found:
    """Tests candidates first; a sampled token that equals one of them is merged into it."""
    children = tree.children()
    path: list[int] = []
    node = ROOT
    while True:
        left = p[1 + node]
        points = [child for child in children.get(node, []) if tree.laws[child] == "point"]
        known = {tree.tokens[child] for child in points}
        sampled = [child for child in children.get(node, []) if child not in points and tree.tokens[child] not in known]
        following = None
        for child in points + sampled:
            token = tree.tokens[child]
            law = q[1 + node] if child in sampled else _one_hot(left, token)
            comparison = Comparison(left, law)
            if choices.accept(child, comparison.ratio(token), comparison):
                following = child
                break
            left = comparison.residual(otherwise=p[1 + node])
        if following is None:
            return path, choices.draw(node, left)
        path.append(following)
        node = following


def _one_hot(like: Vector, token: int) -> Vector:
    law = like * 0
    law[token] = 1
    return law
