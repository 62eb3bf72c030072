"""All outcomes of code that makes random choices, each with its probability."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any, TypeVar

Result = TypeVar("Result")
Number = Any  # a fraction, where the outcomes are counted exactly
ZERO, ONE = Fraction(0), Fraction(1)


class Chance:
    """The choices of one run: those of `script`, which is a row of option numbers, and the first option after that."""

    def __init__(self, script: Sequence[int]) -> None:
        self.script = list(script)
        self.weight: Number = Fraction(1)
        self._options: list[int] = []  # how many there were, choice by choice

    def one_of(self, options: Sequence[tuple[Any, Number]]) -> Any:
        """One of the values, each with its probability; these add up to 1."""
        at = len(self._options)
        if at == len(self.script):
            self.script.append(0)
        self._options.append(len(options))
        value, weight = options[self.script[at]]
        self.weight *= weight
        return value

    def next_script(self) -> list[int] | None:
        script = self.script
        for at in reversed(range(len(script))):
            if script[at] + 1 < self._options[at]:
                return [*script[:at], script[at] + 1]
        return None


def outcomes(run: Callable[[Chance], Result]) -> Iterator[tuple[Result, Number]]:
    """Everything that `run` can return, as often as there are ways to it, with the probability of each way."""
    script: list[int] | None = []
    while script is not None:
        chance = Chance(script)
        yield run(chance), chance.weight
        script = chance.next_script()


class ExactCoins:
    """Coins that are uniform on [0, 1) and independent, one for each key, and that are never tossed.

    Of a coin is known only in which stretch it lies by what was asked of it before. Asking the same coin twice
    therefore gives the right law too, which is how a bug of that kind is found.
    """

    def __init__(self, chance: Chance) -> None:
        self._chance = chance
        self._known: dict[Hashable, tuple[Fraction, Fraction]] = {}

    def below(self, key: Hashable, threshold: Fraction) -> bool:
        """Whether the coin is less than `threshold`."""
        return self._stretch(key, [ZERO, min(ONE, threshold), ONE]) == 0

    def draw(self, key: Hashable, law: Iterable[Fraction]) -> int:
        """The token in whose stretch of the cumulative law the coin lies."""
        return self._stretch(key, list(accumulate(law, initial=ZERO)))

    def _stretch(self, key: Hashable, edges: Sequence[Fraction]) -> int:
        if edges[-1] != 1 or float in map(type, edges):
            raise ArithmeticError("a law that is not exact")
        stretches = [(at, left, right) for at, (left, right) in enumerate(pairwise(edges)) if left != right]
        options = [(stretch, stretch[2] - stretch[1]) for stretch in stretches]
        if key in self._known:
            low, high = self._known[key]
            within = [(at, max(low, left), min(high, right)) for at, left, right in stretches]
            options = [(it, (it[2] - it[1]) / (high - low)) for it in within if it[1] < it[2]]
        at, left, right = self._chance.one_of(options)
        self._known[key] = left, right
        return at
