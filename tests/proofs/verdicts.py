"""What the exact proofs say: a verdict for each rule, and one for each seeded bug."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tests.proofs.controls import Control
from tests.proofs.exact import distance
from tests.proofs.setups import LINES, Line

SEEDS = 2  # worlds of each kind, for a rule
CONTROL_SEEDS = 1  # and for a seeded bug,
CONTROL_VOCABULARIES = (2, 3)  # which need not be looked for in the largest worlds


@dataclass(frozen=True)
class RuleVerdict:
    line: Line
    cases: int
    wrong: int  # cases whose law is not the target's

    @property
    def exact(self) -> bool:
        return not self.wrong


@dataclass(frozen=True)
class BugVerdict:
    control: Control
    cases: int
    caught: int  # cases whose law is not the target's
    largest: Fraction  # total variation between the two laws

    @property
    def found(self) -> bool:
        return self.caught > 0


def prove(line: Line) -> RuleVerdict:
    distances = [distance(setup) for setup in line.setups(SEEDS)]
    return RuleVerdict(line, len(distances), sum(map(bool, distances)))


def expose(control: Control) -> BugVerdict:
    line = next(line for line in LINES if line.name == control.line)
    setups = line.setups(CONTROL_SEEDS, CONTROL_VOCABULARIES)
    distances = [distance(setup, control.method) for setup in setups]
    return BugVerdict(control, len(distances), sum(map(bool, distances)), max(distances))
