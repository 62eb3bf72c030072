"""Kinds of drafts with the sampling settings of target and drafter, for proofs through `verify`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import cycle
from unittest.mock import patch

import torch

from sssd_demo import verify
from sssd_demo.sampled_tree import SampledTree
from sssd_demo.sampling import Sampling
from sssd_demo.trace import ROOT
from sssd_demo.verify import Case, TargetCoins
from tests.proofs.drafting import Draft, Shape
from tests.proofs.exact import Method
from tests.proofs.float_world import FloatWorld
from tests.proofs.setups import CHAINS, LINES, MIXED, POINTS, Line, shape

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
VOCABULARY = 4
WARM = Sampling(temperature=1.2)
NARROW = Sampling(temperature=0.8, top_k=3, top_p=0.95)


@dataclass(frozen=True)
class Kind:
    line: Line
    shape: Shape
    target: Sampling
    drafter: Sampling

    def case(self, made: Draft, position: int, coins: TargetCoins) -> Case:
        tree = SampledTree.of(made.tree, made.q) if made.q else made.tree
        return Case(tree, self.target, position, coins, self.line.judged_by)

    def world(self, dtype: torch.dtype, seed: int = 0) -> FloatWorld:
        return FloatWorld(VOCABULARY, dtype, self.target, self.drafter, seed)


def kinds(line: Line) -> list[Kind]:
    """Every shape of a line. Target and drafter take turns with the narrow settings, so both have impossible tokens."""
    return [Kind(line, each, *settings) for each, settings in zip(line.shapes, cycle(SETTINGS), strict=False)]


SETTINGS: Sequence[tuple[Sampling, Sampling]] = [(NARROW, WARM), (WARM, NARROW)]
WITH = shape("branches", (ROOT, ROOT, 0), "sampled")
WITHOUT = shape("branches", (ROOT, ROOT, 0), "distinct")
TYPICAL = [
    Kind(line, each, *settings)
    for line, each, settings in zip(
        LINES,
        [CHAINS[1], CHAINS[1], WITH, WITHOUT, WITH, WITHOUT, POINTS[2], MIXED[2]],
        cycle(SETTINGS),
        strict=False,
    )
]


def judging(method: Method) -> AbstractContextManager:
    """`verify` with a seeded bug's rule in place of its own, if it has one."""
    rules = dict.fromkeys(verify._RULES, method.rule) if method.rule else {}
    return patch.dict(verify._RULES, rules)
