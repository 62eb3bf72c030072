"""How many tokens a forward of so many guesses brings: measured on drafts that nobody cut, or assumed and said so.

A plan of goodput needs it. Measured, the engine's own rule is played through on the recorded drafts: it cuts anew in
every round, so an average draft would not tell what it does.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Protocol

from sssd_demo.acceptance import Acceptance
from sssd_demo.length import LengthPlanner
from sssd_demo.request import Length
from sssd_demo.roofline import MAX_AUTO_S_Q
from sssd_demo.trace import Trace, VerifiedTree

CALIBRATION = Path(__file__).parents[1] / "benchmarks" / "results" / "calibration.json"
LEAST_ROUNDS = 20  # drafts that a measured yield rests on at least
# Rounds that a rule is played through for at least, and drafts at most: whoever moves a slider asks for many plans.
LEAST_PLAYED, MOST_PLAYED = 20, 1000


@dataclass(frozen=True)
class Played:
    """What a rule comes to over some rounds of a batch."""

    s_q: float  # tokens that the forward held of a sequence, root included, on average
    lowest: int
    highest: int
    tokens: float  # committed of each sequence in a round, on average
    seconds: float  # a forward took, on average, by measured or computed times


class Yield(Protocol):
    """What a forward brings."""

    @property
    def draft_seconds(self) -> float | None:
        """To draft for one sequence in one round and to learn from it; None where nobody measured it."""

    def tokens(self, s_q: int) -> float:
        """Tokens a forward brings of a sequence when always `s_q` are processed, root included; 1 for s_q = 1."""

    def play(self, planner: LengthPlanner, rule: Length, batch: int, context: int) -> Played | None:
        """What `rule` chooses for `batch` sequences of `context` tokens, and what it brings.

        None where the planner knows no times.
        """


@dataclass(frozen=True)
class MeasuredYield:
    """Of whole drafts, by answer: each of them was verified without having been cut."""

    answers: tuple[tuple[VerifiedTree, ...], ...]
    s_q: int  # they were drafted with, root included
    draft_seconds: float | None = None

    @property
    def rounds(self) -> int:
        return sum(map(len, self.answers))

    def tokens(self, s_q: int) -> float:
        drafts = [draft for answer in self.answers for draft in answer]
        return sum(_brings(draft, s_q) for draft in drafts) / len(drafts)

    def play(self, planner: LengthPlanner, rule: Length, batch: int, context: int) -> Played | None:
        """Round after round, for `batch` sequences that write these answers side by side.

        More sequences than answers write some of them again, beginning elsewhere; who has come to an end begins anew.
        """
        if planner.seconds(batch, 1, context) is None:
            return None
        sequences = [_Sequence(self.answers[at % len(self.answers)], at // len(self.answers)) for at in range(batch)]
        lengths, seconds, tokens = [], 0.0, 0
        for _ in range(min(max(map(len, self.answers)), max(LEAST_PLAYED, MOST_PLAYED // batch))):
            drafts = [each.draft(planner, rule, batch, context) for each in sequences]
            if rule == "auto":
                expected = [
                    each.acceptance.expected(draft.probs[:most])
                    for each, (draft, most) in zip(sequences, drafts, strict=True)
                ]
                best = planner.best(expected, [], context)
                drafts = [(draft, min(most, best - 1)) for draft, most in drafts]
            held = [1 + min(len(draft), most) for draft, most in drafts]
            tokens += sum(each.go_on(draft, s_q) for each, (draft, _), s_q in zip(sequences, drafts, held, strict=True))
            lengths.append(max(held))
            seconds += planner.seconds(batch, max(held), context) or 0.0
        rounds = len(lengths)
        return Played(
            s_q=sum(lengths) / rounds,
            lowest=min(lengths),
            highest=max(lengths),
            tokens=tokens / rounds / batch,
            seconds=seconds / rounds,
        )


class _Sequence:
    """One sequence that goes through an answer's drafts."""

    def __init__(self, answer: Sequence[VerifiedTree], begins: int) -> None:
        self._answer = answer
        self._at = 7 * begins % len(answer)
        self._s_q = 1
        self.acceptance = Acceptance()

    def draft(self, planner: LengthPlanner, rule: Length, batch: int, context: int) -> tuple[VerifiedTree, int]:
        """The next draft, and how many of its nodes may be used."""
        return self._answer[self._at], planner.most(rule, batch, context, self._s_q) - 1

    def go_on(self, draft: VerifiedTree, s_q: int) -> int:
        """The draft was verified, cut to `s_q` tokens; returns what it brings."""
        path = [node for node in draft.accepted_path() if node < s_q - 1]
        self.acceptance.observe(draft.first(s_q - 1), path)
        self._at = (self._at + 1) % len(self._answer)
        self._s_q = s_q
        return 1 + len(path)


def _brings(draft: VerifiedTree, s_q: int) -> int:
    # Parents come before children, so the first nodes are a tree of their own and keep their share of the path.
    return 1 + sum(node < s_q - 1 for node in draft.accepted_path())


@dataclass(frozen=True)
class AssumedYield:
    """The curve 1 + a · (1 − r^(s_q − 1)): each further guess is worth r times the one before."""

    a: float
    r: float
    draft_seconds: float | None = None

    @classmethod
    def through(cls, near: tuple[int, float], far: tuple[int, float]) -> AssumedYield:
        """The curve through two points (s_q, tokens). Raises `ValueError` where there is none that levels off."""
        (s, tokens), (longer, more) = near, far
        ratio = (more - 1) / (tokens - 1) if tokens > 1 else 0.0

        def reached(r: float) -> float:
            return (1 - r ** (longer - 1)) / (1 - r ** (s - 1))

        low, high = 1e-6, 1 - 1e-6
        if not (1 < s < longer and reached(low) < ratio < reached(high)):
            raise ValueError(f"no such curve goes through {near} and {far}")
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if reached(middle) < ratio else (low, middle)
        return cls((tokens - 1) / (1 - low ** (s - 1)), low)

    def tokens(self, s_q: int) -> float:
        return 1 + self.a * (1 - self.r ** (s_q - 1))

    def play(self, planner: LengthPlanner, rule: Length, batch: int, context: int) -> Played | None:
        if planner.seconds(batch, 1, context) is None:
            return None
        if rule == "auto":
            curve = [self.tokens(s_q) - 1 for s_q in range(1, MAX_AUTO_S_Q + 1)]
            s_q = planner.best([curve] * batch, [], context)
        else:
            s_q = planner.most(rule, batch, context, 1)
        return Played(s_q, s_q, s_q, self.tokens(s_q), planner.seconds(batch, s_q, context) or 0.0)


def measured_yield(traces: Sequence[Trace], s_q: int) -> MeasuredYield | None:
    """The yield of answers that were all drafted with `s_q` tokens, fixed; None if they have too few rounds.

    Rounds towards an answer's end, where fewer tokens were left to write, are no measure and are left out.
    """
    answers = [tuple(round_.tree for round_ in trace.rounds[1:] if round_.s_q == s_q) for trace in traces]
    answers = [answer for answer in answers if answer]
    if sum(map(len, answers)) < LEAST_ROUNDS:
        return None
    drafting = [
        (round_.draft_ms + after.start_ms - round_.end_ms) / round_.batch_size / 1000
        for trace in traces
        for round_, after in zip(trace.rounds[1:], trace.rounds[2:], strict=False)
        if round_.s_q == s_q
    ]
    return MeasuredYield(tuple(answers), s_q, median(drafting))


def assumed_yield(*, store: bool, path: Path = CALIBRATION) -> AssumedYield | None:
    """What drafting came to on recorded answers, with the base store or with none; None without that record."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))["report"]["report"]["default"]
        with_store = "store" if store else "no store"
        near, far = (float(found[f"s_q {s_q}, {with_store}"]) for s_q in (8, 16))
        return AssumedYield.through((8, near), (16, far))
    except (OSError, ValueError, KeyError, TypeError):
        return None
