"""Recorded answers drafted again with one source or both, answer by answer; exact for greedy answers (see `replay`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sssd_demo.errors import UserError
from sssd_demo.sssd.constants import Settings
from sssd_demo.sssd.drafter import Store
from sssd_demo.sssd.recorded_answers import RecordedAnswer
from sssd_demo.sssd.replay import SHORTEST_ANSWER, decode_again

BOTH, PROMPT_ONLY, DATASTORE_ONLY = "prompt and datastore", "prompt only", "datastore only"
RESAMPLES = 2000
INTERVAL = (2.5, 97.5)  # percentiles


@dataclass(frozen=True)
class Redrafted:
    """What each answer came to: the forwards that a target would have run, and the tokens they gave."""

    forwards: NDArray[np.int64]
    tokens: NDArray[np.int64]

    @property
    def rate(self) -> float:
        """Tokens per forward over all answers."""
        return float(self.tokens.sum() / self.forwards.sum())

    @property
    def gain(self) -> float:
        """Accepted drafts per forward: what drafting added to the one token that every forward gives."""
        return self.rate - 1

    def resampled(self, draws: NDArray[np.int64]) -> NDArray[np.float64]:
        """`rate` of each row of `draws`, the numbers of answers drawn with replacement [resamples, answers]."""
        return self.tokens[draws].sum(axis=1) / self.forwards[draws].sum(axis=1)


def draws(answers: int, seed: int) -> NDArray[np.int64]:
    """`RESAMPLES` bootstrap samples of `answers` answers. The same one for all that is compared: it keeps pairs."""
    return np.random.default_rng(seed).integers(0, answers, (RESAMPLES, answers))


def interval(values: NDArray[np.float64]) -> tuple[float, float]:
    """The middle 95 % of bootstrap `values`."""
    low, high = np.percentile(values, INTERVAL)
    return float(low), float(high)


def long_enough(answers: Sequence[RecordedAnswer], least: int) -> list[RecordedAnswer]:
    """The answers that can be drafted again. Raises `UserError` if there are fewer than `least`."""
    kept = [answer for answer in answers if len(answer.output) >= SHORTEST_ANSWER]
    if len(kept) < least:
        raise UserError(
            f"This experiment needs at least {least} recorded answers of {SHORTEST_ANSWER} tokens or more, "
            f"but there are {len(kept)}."
        )
    return kept


def redraft(
    answers: Sequence[RecordedAnswer], stores: Sequence[Store], source: str, s_q: int, settings: Settings
) -> Redrafted:
    """Draft `answers`, each of at least `SHORTEST_ANSWER` tokens, from one `source`, or with `BOTH` from both.

    What the target held likely belongs to where it was written: to the answer's own text, or to that of the stores.
    """
    limited = replace(settings, prompt_weight=0.0) if source == DATASTORE_ONLY else settings
    used = [] if source == PROMPT_ONLY else stores
    counted = [decode_again(answer, used, s_q, limited) for answer in answers]
    return Redrafted(np.array([one.forwards for one in counted]), np.array([one.tokens for one in counted]))
