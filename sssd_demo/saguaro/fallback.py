"""What is served when the outcome was not prepared, and which choice a cost model would make."""

from __future__ import annotations

from typing import Literal

from sssd_demo.saguaro.options import FallbackPolicy

IMMEDIATE_MOST = 1  # sequences in the batch up to which each is drafted for at once
BATCHED_MOST = 16  # sequences up to which those that missed are drafted for together

Choice = Literal["immediate", "batched", "partial"]


def choose(policy: FallbackPolicy, batch: int) -> Choice:
    """What a round does about sequences that missed; "auto" goes by the size of the batch.

    immediate: redraft them one after the other while the target waits; batched: redraft all of them together; partial:
    wait for nobody, who missed gets n-grams.
    """
    if policy != "auto":
        return policy
    return "immediate" if batch <= IMMEDIATE_MOST else "batched" if batch <= BATCHED_MOST else "partial"


def slow_pays(hit_rate: float, batch: int, redraft: float, hit: float, slow: float) -> float:
    """Tokens per verification if the target waits for a redraft: (p·E_h + (1−p)·E_s) / (1 + (1−p^b)·T_b).

    `redraft` is T_b, the time of redrafting in verifications; `hit` and `slow` are E_h and E_s, the tokens of a round
    after a hit and after a redraft.
    """
    return (hit_rate * hit + (1 - hit_rate) * slow) / (1 + (1 - hit_rate**batch) * redraft)


def break_even(hit_rate: float, batch: int, redraft: float, hit: float, slow: float) -> float | None:
    """E_f from which on nobody should wait: tokens that a round with the backup must bring to pay as much as waiting.

    None where nothing is missed.
    """
    if hit_rate >= 1:
        return None
    return (slow_pays(hit_rate, batch, redraft, hit, slow) - hit_rate * hit) / (1 - hit_rate)


def fast_pays(hit_rate: float, hit: float, fast: float) -> float:
    """Tokens per verification if nobody waits: p·E_h + (1−p)·E_f, with E_f the tokens of a round with the backup."""
    return hit_rate * hit + (1 - hit_rate) * fast
