"""Prompt lookup decoding: copy what followed the last tokens where they stood before (Apoorv Saxena, 2023).

https://github.com/apoorvumang/prompt-lookup-decoding, and `generate(prompt_lookup_num_tokens=…)` in transformers,
with which this drafts token for token.
"""

from __future__ import annotations

from collections.abc import Sequence as Seq

from sssd_demo.speculators.protocol import Outcome, Sequence
from sssd_demo.sssd.constants import FAITHFUL
from sssd_demo.sssd.node import POINT
from sssd_demo.trace import EMPTY_TREE, ROOT, DraftTree

LONGEST = 3  # tokens that are looked up at once; fewer if these were not seen (author's default)
COPIED = 10  # tokens at most (author's default)


class PromptLookup:
    """Knows prompt and answer of each sequence, nothing else."""

    learns_from_top = False

    def __init__(self) -> None:
        self._texts: dict[int, _FirstPlaces] = {}

    def begin(self, sequence: Sequence) -> None:
        self._texts[sequence.id] = _FirstPlaces()
        self._texts[sequence.id].update(sequence.tokens)

    def propose(self, sequences: Seq[Sequence]) -> list[DraftTree]:
        return [self._draft(sequence) for sequence in sequences]

    def observe(self, outcomes: Seq[Outcome]) -> None:
        for outcome in outcomes:
            self._texts[outcome.sequence.id].update(outcome.sequence.tokens)

    def end(self, sequence: Sequence) -> None:
        self._texts.pop(sequence.id, None)  # absent if `begin` failed

    def _draft(self, sequence: Sequence) -> DraftTree:
        tokens = sequence.tokens
        match = self._texts[sequence.id].match(tokens)
        if match is None or sequence.s_q <= 1:
            return EMPTY_TREE
        length, start = match
        copied = tokens[start : start + min(COPIED, sequence.s_q - 1)]
        count = len(copied)
        # The method has no scores. A length left to the machine is planned by those that SSSD's authors give this
        # source, until the answer has shown what they are worth.
        decay = FAITHFUL.decay(length)
        return DraftTree(
            tokens=tuple(copied),
            parents=tuple(range(ROOT, count - 1)),
            probs=tuple(FAITHFUL.prompt_weight * decay**depth for depth in range(count)),
            laws=(POINT,) * count,
            sources=tuple(
                "prompt" if place < sequence.prompt_length else "output" for place in range(start, start + count)
            ),
            match_lengths=(length,) * count,
        )


class _FirstPlaces:
    """Where every run of 1 to `LONGEST` tokens stood first in a growing text: a constant cost for each token."""

    def __init__(self) -> None:
        self._ends: dict[tuple[int, ...], int] = {}
        self._known = 0

    def update(self, tokens: Seq[int]) -> None:
        """Enter what is new; `tokens` is the whole text, grown since the last call."""
        for end in range(self._known + 1, len(tokens) + 1):
            for length in range(1, min(LONGEST, end) + 1):
                self._ends.setdefault(tuple(tokens[end - length : end]), end)
        self._known = len(tokens)

    def match(self, tokens: Seq[int]) -> tuple[int, int] | None:
        """(length of the longest run at the end of `tokens` that stood before, where it went on); None if none did."""
        for length in range(min(LONGEST, len(tokens)), 0, -1):
            end = self._ends[tuple(tokens[-length:])]
            if end < len(tokens):
                return length, end
        return None
