"""Standard speculative decoding: a draft model guesses, the target verifies (arXiv 2211.17192, arXiv 2302.01318)."""

from __future__ import annotations

from collections.abc import Sequence as Seq

from sssd_demo.speculators.draft_length import Rate, VerifySeconds, best_length
from sssd_demo.speculators.draft_model import DraftModel, Plan
from sssd_demo.speculators.protocol import Outcome, Sequence
from sssd_demo.trace import DraftTree

WIDTH = 3  # alternatives after the root of a small tree
FIRST_K = 3  # drafted until a step of the draft model has been timed


class Speculative:
    """The draft and its verification take turns; while one works the other waits.

    `verify_seconds` gives T, the time of a target forward, by which "auto" chooses K.
    """

    learns_from_top = False

    def __init__(self, draft: DraftModel, verify_seconds: VerifySeconds) -> None:
        self._draft = draft
        self._verify_seconds = verify_seconds
        self._rates: dict[int, Rate] = {}

    def begin(self, sequence: Sequence) -> None:
        self._draft.join(sequence)
        self._rates[sequence.id] = Rate()

    def propose(self, sequences: Seq[Sequence]) -> list[DraftTree]:
        free = [sequence for sequence in sequences if sequence.drafting.k == "auto"]
        k = self._free_length(free) if free else 0
        plans = [self._plan(sequence, k) for sequence in sequences]
        return self._draft.draft(sequences, plans)

    def observe(self, outcomes: Seq[Outcome]) -> None:
        self._draft.keep({outcome.sequence.id: outcome.path for outcome in outcomes})
        for outcome in outcomes:
            self._rates[outcome.sequence.id].observe(max(outcome.tree.depths(), default=0), len(outcome.path))

    def end(self, sequence: Sequence) -> None:
        self._draft.leave(sequence)
        self._rates.pop(sequence.id, None)  # absent if `begin` failed

    def _free_length(self, sequences: list[Sequence]) -> int:
        """One K for all sequences that leave it to the machine: they share the forwards."""
        if self._draft.step_seconds is None:
            return FIRST_K
        rates = [self._rates[sequence.id].value for sequence in sequences]
        context = max(len(sequence.tokens) for sequence in sequences)
        return best_length(rates, self._draft.step_seconds, self._verify_seconds, context)

    def _plan(self, sequence: Sequence, free: int) -> Plan:
        k = free if sequence.drafting.k == "auto" else sequence.drafting.k
        room = sequence.s_q - 1
        if not room or not self._draft.fits(sequence):
            return Plan(0)
        width = min(WIDTH, room) if sequence.drafting.rule in ("tree", "traversal") else 1
        return Plan(min(k, room // width), width)
