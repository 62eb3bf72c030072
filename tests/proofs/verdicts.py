"""What the proofs say: a verdict for each rule, and one for each seeded bug."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import torch

from tests.proofs import exact, walk
from tests.proofs.chi_square import Test
from tests.proofs.controls import CONTROLS, Control
from tests.proofs.exact import Keys
from tests.proofs.kinds import DTYPES, TYPICAL, Kind, kinds
from tests.proofs.monte_carlo import tally
from tests.proofs.setups import Line

# Worlds of each kind: for a rule, and for a seeded bug, which need not be looked for in the largest worlds.
SEEDS, CONTROL_SEEDS, CONTROL_VOCABULARIES = 2, 1, (2, 3)
ROUNDING = 1e-12  # how far a law in float64 may be off
FAILS = 1e-6  # a p-value below this is no accident, when a few dozen are looked at

# For each rule an error that is large enough to be seen by counting; the other proofs see small ones too.
COUNTED_BUGS = {
    "chain": "one coin drafts and tests",
    "block": "ends at the first failure",
    "tree, drawn with replacement": "every sibling tested against all of p",
    "tree, drawn without replacement": "tested as if drawn with replacement",
    "traversal, drawn with replacement": "a node tested by its ratio alone",
    "traversal, drawn without replacement": "tested as if drawn with replacement",
    "tree of candidates": "one running coin, duplicates counted twice",
    "sampled tokens and candidates": "candidates tried by all of p",
}
COUNTED = [control for control in CONTROLS if COUNTED_BUGS[control.line.name] == control.bug]


@dataclass(frozen=True)
class Verdict:
    """Total variation from the target's law, over all cases."""

    cases: int
    wrong: int  # cases whose law is another
    largest: float


@dataclass(frozen=True)
class Count:
    """Answers counted, and how well they fit the target's law."""

    line: str
    dtype: str
    runs: int
    statistic: float
    freedom: int
    p_value: float
    bug: str = ""

    @property
    def fits(self) -> bool:
        return self.p_value >= FAILS


def prove(line: Line) -> Verdict:
    """The rule itself, in fractions."""
    return _verdict([exact.distance(setup) for setup in line.setups(SEEDS)])


def expose(control: Control) -> Verdict:
    setups = control.line.setups(CONTROL_SEEDS, CONTROL_VOCABULARIES)
    return _verdict([exact.distance(setup, control.method) for setup in setups])


def prove_in_floats(line: Line, seeds: int) -> Verdict:
    """The rule through `verify`, with logits of both types."""
    worlds = [
        (kind, kind.world(dtype, seed)) for kind in kinds(line) for dtype in DTYPES.values() for seed in range(seeds)
    ]
    return _verdict([walk.distance(kind, world) for kind, world in worlds], ROUNDING)


def expose_in_floats(control: Control) -> Verdict:
    """In some shapes."""
    shapes = [*kinds(control.line)[:2], _typical(control)]
    return _verdict([walk.distance(kind, kind.world(torch.float32), control.method) for kind in shapes], ROUNDING)


# A walk needs the decisions of sampled drafts, and coins that are asked for once.
WALKED = [each for each in CONTROLS if each.line.name != "tree of candidates" and type(each.method.keys) is Keys]


def count(dtype: str, runs: int) -> list[Count]:
    """`runs` answers with each kind of draft, for logits of type `dtype`; no two types have the same seeds."""
    first_seed = list(DTYPES).index(dtype) * runs * len(TYPICAL)
    tests = tally(TYPICAL, DTYPES[dtype], runs, first_seed=first_seed)
    return [_count(line, dtype, test) for line, test in tests.items()]


def count_bug(control: Control, runs: int) -> Count:
    (test,) = tally([_typical(control)], torch.float32, runs, control.method).values()
    return _count(control.line.name, "float32", test, control.bug)


def _typical(control: Control) -> Kind:
    return next(kind for kind in TYPICAL if kind.line == control.line)


def _count(line: str, dtype: str, test: Test, bug: str = "") -> Count:
    return Count(line, dtype, test.runs, test.statistic, test.freedom, test.p_value, bug)


def _verdict(distances: Sequence[Fraction] | Sequence[float], rounding: float = 0.0) -> Verdict:
    return Verdict(len(distances), sum(each > rounding for each in distances), float(max(distances)))
