"""The cases of the exact proofs, rule by rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from sssd_demo.rules import Rule, block, top_down, traversal
from sssd_demo.trace import ROOT, AcceptanceRule, Law
from tests.proofs.drafting import Shape
from tests.proofs.exact import Setup
from tests.proofs.worlds import KINDS, World

END = frozenset({0})


def shape(name: str, parents: Sequence[int], law: Law, ends: frozenset[int] = frozenset()) -> Shape:
    return Shape(name, tuple(parents), (law,) * len(parents), ends)


SAMPLED_TREES = {
    "two siblings": (ROOT, ROOT),
    "three siblings": (ROOT, ROOT, ROOT),
    "two branches": (ROOT, ROOT, 0, 1),
    "two below the first": (ROOT, 0, 0),
    "a long branch and a short": (ROOT, 0, 1, ROOT),
}
CHAINS = [shape(f"chain of {length}", range(ROOT, length - 1), "sampled") for length in (1, 2, 3)] + [
    shape("chain that ends after a token", (ROOT, 0), "sampled", END)
]
WITH_REPLACEMENT = [shape(name, parents, "sampled") for name, parents in SAMPLED_TREES.items()] + [
    shape("two branches that end after a token", (ROOT, ROOT, 0, 1), "sampled", END)
]
WITHOUT_REPLACEMENT = [shape(name, parents, "distinct") for name, parents in SAMPLED_TREES.items()]
POINTS = [
    shape("one candidate", (ROOT,), "point"),
    shape("chain of candidates", (ROOT, 0), "point"),
    shape("branches and duplicates", (ROOT, ROOT, ROOT, 0, 1, 1), "point"),
]
S: Law = "sampled"
P: Law = "point"
MIXED = [
    Shape("a sampled token and a candidate", (ROOT, ROOT), (S, P)),
    Shape("a candidate and a sampled token", (ROOT, ROOT), (P, S)),
    Shape("a sampled token and two candidates which go on", (ROOT, ROOT, ROOT, 0, 1), (S, P, P, P, P)),
    Shape("a sampled chain with candidates at each step", (ROOT, 0, ROOT, 0), (S, S, P, P)),
    Shape("two sampled tokens and a candidate", (ROOT, ROOT, ROOT), (S, S, P)),
    Shape("a sampled token below a candidate", (ROOT, ROOT, 1), (S, P, S)),
]


@dataclass(frozen=True)
class Line:
    """A rule on one kind of draft, and the cases that prove it."""

    name: str
    rule: Rule
    judged_by: AcceptanceRule  # what `verify` calls the rule
    shapes: Sequence[Shape]
    twice: Shape  # drafted in two rounds, one after the other

    def setups(self, seeds: int, vocabularies: Sequence[int] = (2, 3, 4)) -> list[Setup]:
        """Cases of one round, and cases of two rounds over the smallest vocabulary."""
        twice = [Setup(self.rule, self.twice, World(kind, 2, seed), 2) for kind in KINDS for seed in range(3 * seeds)]
        return cases(self.rule, self.shapes, seeds, vocabularies) + twice


def cases(rule: Rule, shapes: Sequence[Shape], seeds: int, vocabularies: Sequence[int] = (2, 3, 4)) -> list[Setup]:
    """All kinds of worlds, `seeds` of each; large trees only over small vocabularies."""
    return [
        Setup(rule, shape, World(kind, vocabulary, seed))
        for shape, kind, seed, vocabulary in product(shapes, KINDS, range(seeds), vocabularies)
        if vocabulary < 4 or len(shape.parents) < 4
    ]


LINES = [
    Line("chain", top_down, "chain", CHAINS, CHAINS[1]),
    Line("block", block, "block", CHAINS, CHAINS[1]),
    Line("tree, drawn with replacement", top_down, "tree", WITH_REPLACEMENT, WITH_REPLACEMENT[0]),
    Line("tree, drawn without replacement", top_down, "tree", WITHOUT_REPLACEMENT, WITHOUT_REPLACEMENT[3]),
    Line("traversal, drawn with replacement", traversal, "traversal", WITH_REPLACEMENT, CHAINS[1]),
    Line(
        "traversal, drawn without replacement",
        traversal,
        "traversal",
        WITHOUT_REPLACEMENT,
        WITHOUT_REPLACEMENT[3],
    ),
    Line("tree of candidates", top_down, "tree", POINTS, POINTS[1]),
    Line("sampled tokens and candidates", top_down, "tree", MIXED, MIXED[0]),
]
