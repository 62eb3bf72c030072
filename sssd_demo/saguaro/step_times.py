"""What the drafter's forwards take, and so what is worth preparing: how many tokens for how many outcomes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from sssd_demo.roofline import interpolate
from sssd_demo.trace import Span

BUDGETS = (1, 2, 3, 4, 6, 8, 12, 16, 24)  # outcomes, where their number is left to the machine
MOST_OUTCOMES = max(BUDGETS)
UNMEASURED = 6  # of them while no time is known
MEMORY = 0.8  # what a new time leaves of the old one


class Timed(Protocol):
    """Who says what forwards of one sequence took at the start, by their tokens; empty while nobody knows."""

    step_seconds: dict[int, float]


class StepTimes:
    """Times measured at the drafter's start, corrected by those of its work since."""

    def __init__(self, drafter: Timed) -> None:
        self._drafter = drafter
        self._correction = 1.0

    def seconds(self, tokens: int, batch: int) -> float | None:
        """One forward of so many tokens for each of `batch` sequences; None while nothing was measured."""
        measured = self._drafter.step_seconds
        if not measured:
            return None
        return self._correction * interpolate(measured, min(tokens * batch, max(measured)))

    def learn(self, spans: Iterable[Span], batch: int) -> None:
        """Compare what branch steps took with what was expected."""
        for span in spans:
            expected = self.seconds(span.tokens, batch) if span.what == "branch" else None
            if expected:
                ratio = (span.end_ms - span.start_ms) / 1e3 / expected
                self._correction *= MEMORY + (1 - MEMORY) * min(ratio, 4.0)

    def best(
        self,
        lengths: Sequence[int],
        budgets: Sequence[int],
        verify_seconds: Callable[[int], float | None],
        acceptance: float,
        hit_rate: Callable[[int, int], float],
        batch: int,
    ) -> tuple[int, int]:
        """K of `lengths` and B of `budgets` with the best goodput, for an acceptance rate a and hit rates p(K, B):

            argmax  (1 + a + a² + … + a^K)  /  (max(T(K + 1), glue + K · step(B)) + (1 − p) · K · step(1))

        A round takes as long as the slower of target and drafter, and after a miss a draft besides. `verify_seconds` is
        T by tokens. While nothing was measured: the longest, for about `UNMEASURED` outcomes.
        """

        def goodput(choice: tuple[int, int]) -> float:
            k, budget = choice
            verify, glue = verify_seconds(k + 1), self.seconds(k + 1, batch)
            step, alone = self.seconds(budget, batch), self.seconds(1, batch)
            if verify is None or glue is None or step is None or alone is None:
                return k - abs(budget - UNMEASURED) / MOST_OUTCOMES
            seconds = max(verify, glue + k * step) + (1 - hit_rate(k, budget)) * k * alone
            return sum(acceptance**i for i in range(k + 1)) / seconds

        return max(itertools.product(lengths, budgets), key=goodput)
