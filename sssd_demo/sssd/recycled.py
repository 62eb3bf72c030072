"""What the target itself held likely after two tokens, the last time it stood there (Token Recycling, 2408.08696).

Verification computes the target's whole distribution at every position anyway. Its most probable tokens are kept by
the last two tokens, and by the last one for places never seen, so the next draft can start from them.
"""

from __future__ import annotations

from collections.abc import Sequence

from sssd_demo.trace import Top

MOST_KEYS = 50_000  # about 30 MB; the oldest are forgotten first


class Recycled:
    """Grows while an answer is written; belongs to whoever may see what it has seen."""

    def __init__(self) -> None:
        self._after: dict[tuple[int, ...], Top] = {}

    def learn(self, tokens: Sequence[int], top: Sequence[Top]) -> None:
        """`top[-1]` stood before the last of `tokens`, `top[-2]` before the one before it, and so on."""
        first = len(tokens) - len(top)
        for position, found in enumerate(top, first):
            for length in (2, 1):
                if position >= length:
                    self._after[tuple(tokens[position - length : position])] = found
        while len(self._after) > MOST_KEYS:
            del self._after[next(iter(self._after))]

    def after(self, tokens: tuple[int, ...]) -> Top | None:
        """What was likely after these one or two tokens, or None if that was never seen."""
        return self._after.get(tokens)
