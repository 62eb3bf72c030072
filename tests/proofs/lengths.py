"""Which rule accepts more of the same drafts, on average: exact expectations, case by case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sssd_demo.rules import Rule, block, top_down, traversal
from tests.proofs.drafting import Shape
from tests.proofs.exact import Setup, expected_accepted
from tests.proofs.setups import CHAINS, WITH_REPLACEMENT, WITHOUT_REPLACEMENT, cases


@dataclass(frozen=True)
class Question:
    """Does `rule` accept at least as much as `than`?"""

    name: str
    rule: Rule
    than: Rule
    shapes: Sequence[Shape]

    def setups(self, seeds: int) -> Sequence[Setup]:
        return cases(self.rule, self.shapes, seeds)


@dataclass(frozen=True)
class Answer:
    question: Question
    more: int
    equal: int
    less: int


QUESTIONS = [
    Question("block against chain", block, top_down, CHAINS),
    Question("traversal against block, on chains", traversal, block, CHAINS),
    Question("traversal against tree, drawn with replacement", traversal, top_down, WITH_REPLACEMENT),
    Question("traversal against tree, drawn without replacement", traversal, top_down, WITHOUT_REPLACEMENT),
]


def answer(question: Question, seeds: int) -> Answer:
    more = equal = less = 0
    for setup in question.setups(seeds):
        gain = expected_accepted(setup) - expected_accepted(replace(setup, rule=question.than))
        more, equal, less = more + (gain > 0), equal + (gain == 0), less + (gain < 0)
    return Answer(question, more, equal, less)
