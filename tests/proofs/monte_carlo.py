"""The law of whole answers as `verify` writes them, by counting: its own laws and coins, batches of mixed cases.

Every run is an answer with a seed of its own. All kinds of drafts take turns within each batch, and an answer goes on,
round after round, until it has `LENGTH` tokens.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import torch
from torch.nn.utils.rnn import pad_sequence

from sssd_demo.coins import Coins, draft_coin
from sssd_demo.verify import TargetCoins, verify
from tests.proofs.chi_square import Test, chi_square
from tests.proofs.exact import HONEST, Keys, Method
from tests.proofs.float_world import FloatWorld
from tests.proofs.kinds import Kind, judging
from tests.proofs.worlds import Text

LENGTH = 3  # tokens of an answer: the deepest path and its bonus
BATCH = 1000  # answers that are judged together


@dataclass
class Answer:
    kind: Kind
    world: FloatWorld
    seed: int
    text: Text = ()


def tally(
    kinds: Sequence[Kind], dtype: torch.dtype, runs: int, method: Method = HONEST, first_seed: int = 0
) -> dict[str, Test]:
    """`runs` answers of each kind, their counts tested against the target's law; by the kind's name."""
    worlds = {kind.line.name: kind.world(dtype) for kind in kinds}
    counts: dict[str, Counter[Text]] = {kind.line.name: Counter() for kind in kinds}
    end = first_seed + runs * len(kinds)
    for first in range(first_seed, end, BATCH):
        seeds = range(first, min(first + BATCH, end))
        answers = [Answer(kind := kinds[seed % len(kinds)], worlds[kind.line.name], seed) for seed in seeds]
        while unfinished := [answer for answer in answers if len(answer.text) < LENGTH]:
            play_round(unfinished, method)
        for answer in answers:
            counts[answer.kind.line.name][answer.text[:LENGTH]] += 1
    return {name: chi_square(found, worlds[name].law(LENGTH)) for name, found in counts.items()}


def play_round(answers: Sequence[Answer], method: Method = HONEST) -> None:
    """One round for all: drafts, one call of `verify`, and what it says appended to the texts."""
    cases, logits = [], []
    for answer in answers:
        made = method.drafter(answer.world, answer.kind.shape, answer.text, _Drawn(answer, method.keys))
        cases.append(answer.kind.case(made, len(answer.text), target_coins(answer.seed, method.keys)))
        logits.append(answer.world.tree_logits(answer.text, made.tree))
    with judging(method):
        verdicts = verify(cases, pad_sequence(logits, batch_first=True))
    for answer, verdict in zip(answers, verdicts, strict=True):
        answer.text += (*(verdict.tree.tokens[node] for node in verdict.path), verdict.bonus)


def target_coins(seed: int, keys: Keys) -> TargetCoins:
    """Those of production, or those of a seeded bug."""
    return Coins(seed) if type(keys) is Keys else _KeyedCoins(seed, keys)


@dataclass(frozen=True)
class _Drawn:
    """Draws drafts by inverse CDF, as a drafter does."""

    answer: Answer
    keys: Keys

    def __call__(self, node: int, law: torch.Tensor) -> int:
        root = len(self.answer.text)
        seed, keys = self.answer.seed, self.keys
        coin = draft_coin(seed, root, node) if type(keys) is Keys else _keyed(seed, keys.draft(root, node))
        cumulative = list(accumulate(law.tolist()))
        return next(token for token, mass in enumerate(cumulative) if coin * cumulative[-1] < mass)


@dataclass(frozen=True)
class _KeyedCoins(TargetCoins):
    seed: int
    keys: Keys

    def position(self, position: int) -> float:
        return _keyed(self.seed, self.keys.position(position))

    def residual(self, position: int) -> float:
        return _keyed(self.seed, self.keys.residual(position))

    def accept(self, root_position: int, node: int) -> float:
        return _keyed(self.seed, self.keys.accept(root_position, node))


def _keyed(seed: int, key: object) -> float:
    return random.Random(f"{seed} {key}").random()
