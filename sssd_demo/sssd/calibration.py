"""Which ideas and constants draft more tokens a step, found on one set of recorded answers and checked on another.

No model is needed: greedy answers are drafted again (`replay.py`). What counts is the geometric mean of the tokens per
step over all lengths asked for, without a store and with one. A change is adopted only if it wins on both sets;
so both have a part in the choice, and what it is worth is to be seen on a third.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import exp, log
from statistics import fmean
from typing import Any

from sssd_demo.sssd.constants import FAITHFUL, Settings
from sssd_demo.sssd.drafter import Store
from sssd_demo.sssd.recorded_answers import RecordedAnswer
from sssd_demo.sssd.replay import replay

LEAST_GAIN = 1.001  # on the set searched; less is not worth a constant of its own

Changes = dict[str, Any]

# Ideas that go beyond the authors' algorithm, in the order in which they are added to it.
IDEAS: dict[str, Changes] = {
    "short matches of the datastore discounted": {"short_match_discount": 0.15},
    "sources as independent witnesses (noisy-or)": {"combine": "noisy-or", "short_match_discount": 0.0},
    "estimates interpolated": {"combine": "interpolated", "short_match_discount": 0.0},
    "recycled": {"recycled_weight": 0.9},
    "no lag": {"lag": False},
    "windows of 16": {"window": 16},
    "no lag and windows of 16": {"lag": False, "window": 16},
    "matches up to 6": {"longest_match": 6},
    "weights learnt online": {"online_trust": True},
    "hopeless nodes cut off": {"cutoff": 0.02},
}
# These change estimates, so alone they are tried where estimates are interpolated.
ON_ESTIMATES = frozenset({"recycled", "weights learnt online", "hopeless nodes cut off"})

# Values to try for each constant, one constant after another.
CONSTANTS: dict[str, Sequence[float]] = {
    "prompt_weight": (0.4, 0.6, 0.8, 1.0),
    "decay_base": (0.5, 0.6, 0.7, 0.8),
    "decay_per_matched_token": (0.0, 0.05, 0.1),
    "prompt_doubt": (0.5, 1, 2, 4),
    "datastore_doubt": (1, 3, 6, 12),
    "datastore_doubt_growth": (1, 2, 3),
    "recycled_weight": (0.6, 0.8, 0.9, 1.0),
    "longest_match": (3, 4, 6, 8),
    "window": (8, 12, 16, 24),
    "samples": (50, 100, 200),
    "enough_samples": (25, 50, 100),
    "max_children": (5, 8, 12),
}
# Constants that only one way of combining looks at: the larger score, or estimates.
OF_SCORES = frozenset({"prompt_weight", "decay_base", "decay_per_matched_token"})
OF_ESTIMATES = frozenset({"prompt_doubt", "datastore_doubt", "datastore_doubt_growth", "recycled_weight"})


@dataclass(frozen=True)
class Material:
    """Recorded answers, and a store that knows none of them."""

    answers: Sequence[RecordedAnswer]
    store: Store


@dataclass(frozen=True)
class Score:
    """Tokens per step by (s_q, whether with the store)."""

    tokens_per_step: dict[tuple[int, bool], float]

    @property
    def mean(self) -> float:
        """The geometric mean."""
        return exp(fmean(map(log, self.tokens_per_step.values())))


@dataclass(frozen=True)
class Try:
    """One change that was tried on top of `before`."""

    stage: str
    name: str
    changes: Changes
    searched: Score
    searched_before: Score
    checked: Score | None  # None: it did not win on the set searched, so it was not looked at again
    checked_before: Score | None
    adopted: bool


class Calibration:
    """Tries changes on `searched`, and those that win there on `checked`; `tell` hears of each try beforehand."""

    def __init__(
        self,
        searched: Material,
        checked: Material,
        s_qs: Sequence[int],
        clock: Callable[[], float],
        tell: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._searched = searched
        self._checked = checked
        self._s_qs = s_qs
        self._clock = clock
        self._tell = tell
        self._known: dict[tuple[int, Settings], Score] = {}

    def score(self, material: Material, settings: Settings) -> Score:
        """What `settings` draft of `material`; the same question is worked out once."""
        key = (id(material), settings)
        if key not in self._known:
            self._known[key] = Score(
                {
                    (s_q, with_store): replay(
                        material.answers, [material.store] if with_store else [], s_q, settings, self._clock
                    ).tokens_per_step
                    for s_q in self._s_qs
                    for with_store in (False, True)
                }
            )
        return self._known[key]

    def each_alone(self) -> Iterator[Try]:
        """Every idea on top of the authors' algorithm, whether it wins or not; nothing is adopted."""
        estimates = replace(FAITHFUL, combine="interpolated")
        for name, changes in IDEAS.items():
            before = estimates if name in ON_ESTIMATES else FAITHFUL
            yield replace(self._tried("each idea alone", name, changes, before, look_again=True), adopted=False)

    def search(self) -> tuple[Settings, list[Try]]:
        """From the authors' algorithm: add the ideas that win, then choose the constants. The tries in order."""
        settings = FAITHFUL
        tries: list[Try] = []
        for name, changes in IDEAS.items():
            tries.append(self._tried("ideas added up", name, changes, settings))
            if tries[-1].adopted:
                settings = replace(settings, **changes)
        for constant, values in CONSTANTS.items():
            if constant in (OF_ESTIMATES if settings.combine == "larger" else OF_SCORES):
                continue
            now = getattr(settings, constant)
            found = [
                self._tried("constants", f"{constant} = {value:g}", {constant: value}, settings)
                for value in values
                if value != now
            ]
            tries += found
            best = max((one for one in found if one.adopted), key=lambda one: one.searched.mean, default=None)
            if best is not None:
                settings = replace(settings, **best.changes)
            tries = [replace(one, adopted=one is best) if one in found else one for one in tries]
        return settings, tries

    def _tried(self, stage: str, name: str, changes: Changes, before: Settings, look_again: bool = False) -> Try:
        self._tell(f"{stage}: {name}")
        after = replace(before, **changes)
        searched, searched_before = self.score(self._searched, after), self.score(self._searched, before)
        won = searched.mean >= LEAST_GAIN * searched_before.mean
        checked = checked_before = None
        if won or look_again:
            checked, checked_before = self.score(self._checked, after), self.score(self._checked, before)
            won = won and checked.mean >= checked_before.mean
        return Try(stage, name, changes, searched, searched_before, checked, checked_before, adopted=won)
