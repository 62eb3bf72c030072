"""When not to draft at all: while guesses bring less than finding and checking them costs.

The length that `length.py` chooses follows from forward times that were measured once, and from nothing that drafting
itself takes. So rounds with drafts are also held against rounds without, as they came out. What is decided here depends
on past rounds and on time alone, so the law of the text stays what it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

PAYS = 1.3  # drafts that bring so many times plain decoding's tokens are not doubted
TRIAL = 12  # drafts, of all sequences together, before they are judged
COMPARED = 3  # rounds without drafts that they are held against
STALE = 64  # rounds with drafts, after which those without are measured again
SHORTEST, LONGEST = 8, 64  # rounds of a pause; each one that follows a failed trial is twice as long
MEMORY = 0.9  # what a round leaves of the sums before it


class Pauses:
    """For the batches of one engine. Each is told by its methods, one for each sequence: what pays for one method, or
    for two sequences, may not for another, or for twenty.
    """

    def __init__(self) -> None:
        self._batches: dict[tuple[str, ...], _Batch] = {}

    def pausing(self, methods: Sequence[str], new: int) -> bool:
        """Whether the coming round should do without drafts. So many of its sequences had no round yet."""
        batch = self._batch(methods)
        batch.joined(new)
        return batch.paused > 0

    def observe(self, methods: Sequence[str], *, drafted: bool, tokens: int, seconds: float) -> None:
        """A round has committed so many tokens. `drafted` says whether anything was proposed, verified or not."""
        self._batch(methods).observe(drafted, tokens, seconds)

    def _batch(self, methods: Sequence[str]) -> _Batch:
        return self._batches.setdefault(tuple(sorted(methods)), _Batch(len(methods)))


@dataclass
class _Speed:
    """Of rounds of one kind; old ones fade."""

    rounds: int = 0
    tokens: float = 0.0
    seconds: float = 0.0
    weight: float = 0.0

    def add(self, tokens: int, seconds: float) -> None:
        self.rounds += 1
        self.tokens = MEMORY * self.tokens + tokens
        self.seconds = MEMORY * self.seconds + seconds
        self.weight = MEMORY * self.weight + 1

    @property
    def value(self) -> float:
        """Tokens per second."""
        return self.tokens / self.seconds if self.seconds else math.inf


@dataclass
class _Batch:
    """What is known of batches of the same methods."""

    size: int
    drafting: _Speed = field(default_factory=_Speed)  # since the last pause
    plain: _Speed = field(default_factory=_Speed)
    since_plain: int = 0  # rounds with drafts
    paused: int = 0  # rounds that are still to be done without
    pause: int = SHORTEST  # rounds that the next pause will last

    def joined(self, new: int) -> None:
        """Nothing is known of a new text: alone it ends a pause, as one of many it shortens it a little."""
        self.paused = self.paused * (self.size - new) // self.size
        if new == self.size:
            self.drafting, self.pause = _Speed(), SHORTEST

    def observe(self, drafted: bool, tokens: int, seconds: float) -> None:
        if self.paused or not drafted:
            self.plain.add(tokens, seconds)
            self.since_plain = 0
            if self.paused == 1:
                self.drafting = _Speed()  # what was true before the pause is to be found out again
            self.paused = max(0, self.paused - 1)
            return
        self.drafting.add(tokens, seconds)
        self.since_plain += 1
        if self.drafting.rounds * self.size >= TRIAL:
            self._judge()

    def _judge(self) -> None:
        if self.drafting.tokens >= PAYS * self.size * self.drafting.weight:
            self.pause = SHORTEST
        elif self.plain.rounds < COMPARED or self.since_plain > STALE:
            self.paused = COMPARED
        elif self.drafting.value < self.plain.value:
            self.paused, self.pause = self.pause, min(2 * self.pause, LONGEST)
        else:
            self.pause = SHORTEST
