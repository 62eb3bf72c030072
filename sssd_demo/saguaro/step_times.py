"""What the drafter's forwards take, and so how much of its work one verification hides."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from sssd_demo.roofline import interpolate
from sssd_demo.trace import Span

LEAST_OUTCOMES, MOST_OUTCOMES = 3, 24  # where the budget is left to the machine
BUDGETS = (3, 4, 6, 8, 12, 16, 24)
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

    def best_length(
        self,
        verify_seconds: Callable[[int], float | None],
        acceptance: float,
        hit_rate: float,
        budget: int,
        most: int,
        batch: int,
    ) -> int:
        """The K from 1 to `most` with the best goodput, for an acceptance rate a, a hit rate p and B outcomes:

            argmax over K of  (1 + a + a² + … + a^K)  /  (max(T(K + 1), glue + K · step(B)) + (1 − p) · K · step(1))

        A round takes as long as the slower of target and drafter, and after a miss a draft besides.
        `verify_seconds` is T by tokens. `most` where nothing was measured.
        """
        step, alone = self.seconds(budget, batch), self.seconds(1, batch)

        def goodput(k: int) -> float:
            verify, glue = verify_seconds(k + 1), self.seconds(k + 1, batch)
            if verify is None or glue is None or step is None or alone is None:
                return k
            seconds = max(verify, glue + k * step) + (1 - hit_rate) * k * alone
            return sum(acceptance**i for i in range(k + 1)) / seconds

        return max(range(1, max(1, most) + 1), key=goodput)

    def budget(self, verify: float | None, k: int, batch: int) -> int:
        """B: the most outcomes whose drafts of `k` tokens one verification hides; the least number if none fit."""
        glue = self.seconds(k + 1, batch)
        if verify is None or glue is None:
            return LEAST_OUTCOMES * 2
        fitting = [b for b in BUDGETS if glue + k * (self.seconds(b, batch) or 0.0) <= verify]
        return max(fitting, default=LEAST_OUTCOMES)
