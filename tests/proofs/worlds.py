"""Tiny worlds: for every text, the next token's law by a target and by a draft model, as arrays of fractions."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

Text = tuple[int, ...]
Vector = Any  # an array of fractions, or a tensor of floats

KINDS = ("zeros", "dense", "equal", "disjoint", "greedy", "one-hot q")


class World:
    """Random laws that depend on the whole text, and are the same whenever they are asked for.

    `raw_q` is what the draft model says, `q` what is left of it after a temperature of 1/2, and what drafts are to be
    drawn from. Kinds: "zeros" has many impossible tokens, "dense" none; p and q are "equal" or "disjoint"; the target
    is "greedy", or the drafter ("one-hot q").
    """

    def __init__(self, kind: str, vocabulary: int, seed: int) -> None:
        self.kind = kind
        self.vocabulary = vocabulary
        self.seed = seed
        self._made: dict[Text, tuple[Vector, Vector, Vector]] = {}

    def __repr__(self) -> str:
        return f"{self.kind}, {self.vocabulary} tokens, seed {self.seed}"

    def p(self, text: Text) -> Vector:
        return self._laws(text)[0]

    def q(self, text: Text) -> Vector:
        return self._laws(text)[1]

    def raw_q(self, text: Text) -> Vector:
        return self._laws(text)[2]

    def _laws(self, text: Text) -> tuple[Vector, Vector, Vector]:
        if text not in self._made:
            rng = random.Random(f"{self!r} {text}")
            p, raw = (self._weights(rng), self._weights(rng))
            if self.kind == "disjoint":
                mine = set(rng.sample(range(self.vocabulary), rng.randrange(1, self.vocabulary)))
                p = [rng.randrange(1, 6) if token in mine else 0 for token in range(self.vocabulary)]
                raw = [0 if token in mine else rng.randrange(1, 6) for token in range(self.vocabulary)]
            if self.kind == "greedy":
                p = self._one_hot(rng)
            if self.kind == "one-hot q":
                raw = self._one_hot(rng)
            q = law([weight**2 for weight in raw])
            self._made[text] = q if self.kind == "equal" else law(p), q, law(raw)
        return self._made[text]

    def _weights(self, rng: random.Random) -> list[int]:
        if self.kind == "dense":
            return [rng.randrange(1, 6) for _ in range(self.vocabulary)]
        weights = [rng.choice((0, 0, 1, 2, 3, 5)) for _ in range(self.vocabulary)]
        return weights if any(weights) else self._one_hot(rng)

    def _one_hot(self, rng: random.Random) -> list[int]:
        chosen = rng.randrange(self.vocabulary)
        return [int(token == chosen) for token in range(self.vocabulary)]


def law(weights: Sequence[int]) -> Vector:
    return np.array([Fraction(weight, sum(weights)) for weight in weights], dtype=object)
