"""The law of what `verify` emits in a round, to float precision: by walking through the stretches of all its coins.

What a verdict records, thresholds and cumulative shares, says how far a coin may move without a change. Coins at both
ends of every stretch must give the same verdict, so nothing is taken on trust; then the next stretch has its turn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import torch

from sssd_demo.verify import TargetCoins, Verdict, verify
from tests.proofs.drafting import Draft
from tests.proofs.enumeration import Chance, outcomes
from tests.proofs.exact import HONEST, Method
from tests.proofs.float_world import FloatWorld
from tests.proofs.kinds import Kind, judging
from tests.proofs.worlds import Text

EDGE = 1e-10  # how far from the end of a stretch a coin is put; stretches that are not wider are left out


@dataclass
class _Placed(TargetCoins):
    """Coins at given places, in the order in which they are asked for; those beyond are at the very start."""

    places: list[float]
    asked: list[tuple[str, int]] = field(default_factory=list)  # ("accept", node) or ("draw", position)

    def position(self, position: int) -> float:
        return self._next("draw", position)

    def residual(self, position: int) -> float:
        return self._next("draw", position)

    def accept(self, root_position: int, node: int) -> float:
        return self._next("accept", node)

    def _next(self, what: str, which: int) -> float:
        self.asked.append((what, which))
        return self.places[len(self.asked) - 1] if len(self.asked) <= len(self.places) else EDGE


def emitted_law(kind: Kind, world: FloatWorld, method: Method = HONEST) -> dict[Text, float]:
    """What the first round emits, over all drafts and coins."""

    def drafted(chance: Chance) -> Draft:
        return method.drafter(world, kind.shape, (), lambda node, law: chance.one_of(_possible(law)))

    law: dict[Text, float] = {}
    with judging(method):
        for made, weight in outcomes(drafted):
            logits = world.tree_logits((), made.tree)[None]
            for verdict, volume in _verdicts(kind, made, logits):
                text = (*(made.tree.tokens[node] for node in verdict.path), verdict.bonus)
                law[text] = law.get(text, 0.0) + weight * volume
    return law


def _possible(law: torch.Tensor) -> list[tuple[int, float]]:
    return [(token, share) for token, share in enumerate(law.tolist()) if share]


def _verdicts(kind: Kind, made: Draft, logits: torch.Tensor) -> Iterator[tuple[Verdict, float]]:
    """Every verdict on one tree, with the volume of coins that gives it."""
    starts: list[float] = []
    while True:
        low = _Placed([start + EDGE for start in starts])
        verdict = _verdict(kind, made, logits, low)
        starts = _padded(starts, len(low.asked))
        ends = [_end(verdict, start, *what) for start, what in zip(starts, low.asked, strict=True)]
        high = _Placed([end - EDGE for end in ends])
        other = _verdict(kind, made, logits, high)
        assert (other.path, other.bonus, high.asked) == (verdict.path, verdict.bonus, low.asked)
        yield verdict, math.prod(end - start for start, end in zip(starts, ends, strict=True))
        while ends and ends[-1] > 1 - 2 * EDGE:
            ends.pop()
        if not ends:
            return
        starts = [*starts[: len(ends) - 1], ends[-1]]


def _padded(starts: list[float], count: int) -> list[float]:
    return starts + [0.0] * (count - len(starts))


def _verdict(kind: Kind, made: Draft, logits: torch.Tensor, coins: TargetCoins) -> Verdict:
    (verdict,) = verify([kind.case(made, 0, coins)], logits)
    return verdict


def _end(verdict: Verdict, start: float, what: str, which: int) -> float:
    """Where the stretch ends in which the coin was that lies just after `start`."""
    decisions = {decision.node: decision for decision in verdict.decisions}
    if what == "accept":
        threshold = decisions[which].threshold
        return threshold if start + EDGE < threshold else 1.0
    if which == len(verdict.path):
        assert verdict.draw is not None
        return verdict.draw.start + verdict.draw.prob
    # The draw led to a candidate, whose test is by the same coin as measured from the start of its stretch.
    node = verdict.path[which]
    share, offset = decisions[node].p if decisions else verdict.tree.target_probs[node], verdict.tree.coins[node]
    assert offset is not None
    return start + EDGE - offset + share


def distance(kind: Kind, world: FloatWorld, method: Method = HONEST) -> float:
    """Total variation between the law of the first tokens, after one round and further ones of the target's, and p."""
    length = kind.shape.depth + 1
    wanted = world.law(length)
    found: dict[Text, float] = {}
    for text, weight in emitted_law(kind, world, method).items():
        for rest, mass in world.law(length - len(text), text).items():
            found[text + rest] = found.get(text + rest, 0.0) + weight * mass
    return sum(abs(found.get(text, 0.0) - wanted.get(text, 0.0)) for text in found.keys() | wanted.keys()) / 2
