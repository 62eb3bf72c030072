"""The SSSD method: drafts from the conversation itself and from datastores of past text (arXiv 2411.05894)."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Seq

from sssd_demo.speculators.protocol import Outcome, Sequence
from sssd_demo.sssd.constants import DEFAULT, Settings
from sssd_demo.sssd.drafter import Drafter, Store
from sssd_demo.sssd.recycled import LONGEST_KEY
from sssd_demo.trace import DraftTree


class Sssd:
    """One drafter for each sequence, gone when the sequence ends; only the stores outlive it, and are only read.

    `open_store` gives the store of a name, which may grow meanwhile, or raises `UserError`, as then does `begin`.
    """

    def __init__(self, open_store: Callable[[str], Store], settings: Settings = DEFAULT) -> None:
        self._open_store = open_store
        self._settings = settings
        self.learns_from_top = settings.combine != "larger" and settings.recycled_weight > 0
        self._drafters: dict[int, Drafter] = {}

    def begin(self, sequence: Sequence) -> None:
        stores = [self._open_store(name) for name in sequence.stores]
        drafter = Drafter(sequence.tokens[: sequence.prompt_length], stores, self._settings)
        drafter.update(sequence.tokens)
        self._drafters[sequence.id] = drafter

    def propose(self, sequences: Seq[Sequence]) -> list[DraftTree]:
        return [self._drafters[sequence.id].draft(sequence.tokens, sequence.s_q) for sequence in sequences]

    def observe(self, outcomes: Seq[Outcome]) -> None:
        for outcome in outcomes:
            drafter, tokens = self._drafters[outcome.sequence.id], outcome.sequence.tokens
            if not self._settings.recycle_rejected:
                drafter.update(tokens, outcome.committed_top)
                continue
            drafter.update(tokens)
            written = len(outcome.committed)
            drafter.verified(tokens[-written - LONGEST_KEY : -written], outcome.tree, outcome.top)

    def end(self, sequence: Sequence) -> None:
        self._drafters.pop(sequence.id, None)  # absent if `begin` failed
