"""What can be chosen about preparing drafts while the target verifies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from sssd_demo.errors import UserError

# How the prepared outcomes are spread: see `fan_out.py`.
FanOut = Literal["uniform", "geometric", "logits", "confident", "sized"]
# How the draft's law is bent so that refusals are easier to foresee: see `bent_law.py`.
Bend = Literal["off", "c", "root"]
# What is served when the outcome was not prepared: see `fallback.py`. auto: by the batch's size.
FallbackPolicy = Literal["auto", "immediate", "batched", "partial"]

FAN_OUTS: tuple[FanOut, ...] = get_args(FanOut)
BENDS: tuple[Bend, ...] = get_args(Bend)
FALLBACK_POLICIES: tuple[FallbackPolicy, ...] = get_args(FallbackPolicy)
MAX_BUDGET = 64
MAX_ROLL_BACK = 1000
MAX_MILLISECONDS = 60_000.0


@dataclass(frozen=True)
class SaguaroOptions:
    """Raises `UserError` when a value is out of range."""

    fan_out: FanOut = "geometric"
    budget: int | Literal["auto"] = "auto"  # outcomes prepared in a round; auto: as many as pay
    confidence: float = 0.05  # "confident" prepares outcomes that the drafter takes to be at least so probable
    bend: Bend = "off"
    c: float = 1.0  # of bend "c": what is left of the weight of tokens whose refusal is prepared; 1: all
    fallback: FallbackPolicy = "auto"
    nearest: bool = False  # where nothing better is there, offer the draft of the most similar prepared outcome
    late_ms: float | None = None  # the longest that the target waits for a draft; None: as long as it takes
    roll_back_after: int = 3  # misses in a row, after which nothing is prepared for a while; 0: never
    latency_ms: float | None = None  # rounds that take longer make drafts shorter

    def __post_init__(self) -> None:
        _one_of(self.fan_out, FAN_OUTS, "fan-out policy")
        _one_of(self.bend, BENDS, "Saguaro sampling")
        _one_of(self.fallback, FALLBACK_POLICIES, "fallback policy")
        if self.budget != "auto" and not (type(self.budget) is int and 1 <= self.budget <= MAX_BUDGET):
            raise UserError(f"The fan-out budget must be 1 to {MAX_BUDGET} outcomes or auto, but is {self.budget}.")
        _share(self.confidence, "confidence of a prepared outcome")
        _share(self.c, "constant C of Saguaro sampling")
        if not (type(self.roll_back_after) is int and 0 <= self.roll_back_after <= MAX_ROLL_BACK):
            raise UserError(
                f"The misses before rolling back must be 0 (never) to {MAX_ROLL_BACK}, but are {self.roll_back_after}."
            )
        _milliseconds(self.late_ms, "time that the target waits for a draft")
        _milliseconds(self.latency_ms, "latency limit of a round")


def _one_of(value: str, known: tuple[str, ...], what: str) -> None:
    if value not in known:
        raise UserError(f"There is no {what} called {value!r}; there are {', '.join(known)}.")


def _share(value: float, what: str) -> None:
    if not 0.0 <= value <= 1.0:
        raise UserError(f"The {what} must lie between 0 and 1, but is {value:g}.")


def _milliseconds(value: float | None, what: str) -> None:
    if value is not None and not 0.0 <= value <= MAX_MILLISECONDS:
        raise UserError(f"The {what} must be 0 to {MAX_MILLISECONDS:g} milliseconds, but is {value:g}.")
