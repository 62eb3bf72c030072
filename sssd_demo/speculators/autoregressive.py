"""Plain decoding: the speculator that proposes nothing. Every speed-up is measured against it."""

from __future__ import annotations

from collections.abc import Sequence as Seq

from sssd_demo.speculators.protocol import Outcome, Sequence
from sssd_demo.trace import EMPTY_TREE, DraftTree


class Autoregressive:
    learns_from_top = False

    def begin(self, sequence: Sequence) -> None:
        """Nothing to prepare."""

    def propose(self, sequences: Seq[Sequence]) -> list[DraftTree]:
        return [EMPTY_TREE] * len(sequences)

    def observe(self, outcomes: Seq[Outcome]) -> None:
        """Nothing to learn."""

    def end(self, sequence: Sequence) -> None:
        """Nothing to forget."""
