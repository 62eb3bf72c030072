"""What the drafter's forwards take, and so how much of its work one verification hides."""

from __future__ import annotations

from collections.abc import Iterable
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

    def most_steps(self, verify: float | None, budget: int, k: int, batch: int) -> int:
        """The longest drafts, of at most `k` tokens, that one verification of `verify` seconds hides; at least 1."""
        glue, step = self.seconds(k + 1, batch), self.seconds(budget, batch)
        if verify is None or glue is None or step is None:
            return k
        return max(1, min(k, int((verify - glue) / step)))

    def budget(self, verify: float | None, k: int, batch: int) -> int:
        """B: the most outcomes whose drafts of `k` tokens one verification hides; the least number if none fit."""
        glue = self.seconds(k + 1, batch)
        if verify is None or glue is None:
            return LEAST_OUTCOMES * 2
        fitting = [b for b in BUDGETS if glue + k * (self.seconds(b, batch) or 0.0) <= verify]
        return max(fitting, default=LEAST_OUTCOMES)
