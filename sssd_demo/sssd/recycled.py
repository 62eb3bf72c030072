"""What the target itself held likely after one or two tokens, averaged over the places where it stood there.

Verification computes the target's whole distribution at every position anyway. Keeping its most probable tokens by the
tokens before them gives the next draft a start where no text matches (after Token Recycling, arXiv 2408.08696,
which keeps the latest sight of one token; here it is the mean, and of two tokens where there is one).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

from sssd_demo.trace import Top

MOST_KEYS = 50_000  # some tens of megabytes; the places seen first are forgotten first
LONGEST_KEY = 2
_MOST_TOKENS = 16  # kept of a place: more than are handed out, so that a late riser is not cut off at once
_HANDED_OUT = 8


class Recycled:
    """Grows while an answer is written; belongs to whoever may see what it has seen.

    One thread may learn while others look things up.
    """

    def __init__(self) -> None:
        self._places: dict[tuple[int, ...], _Mean] = {}

    def learn(self, tokens: Sequence[int], top: Sequence[Top]) -> None:
        """`top[-1]` stood before the last of `tokens`, `top[-2]` before the one before it, and so on."""
        first = len(tokens) - len(top)
        for position, seen in enumerate(top, first):
            for length in range(1, min(LONGEST_KEY, position) + 1):
                key = tuple(tokens[position - length : position])
                self._places[key] = self._places.get(key, _NEVER_SEEN).with_one_more(seen)
        while len(self._places) > MOST_KEYS:
            del self._places[next(iter(self._places))]

    def after(self, tokens: tuple[int, ...]) -> Top | None:
        """What was likely after these one or two tokens, or None if that was never seen."""
        place = self._places.get(tokens)
        return place.top() if place else None

    def items(self) -> Iterator[tuple[tuple[int, ...], Top]]:
        """Every place with what was likely there."""
        for key, place in self._places.items():
            yield key, place.top()

    def copy(self) -> Recycled:
        """All that is known now, without what is learnt later."""
        found = Recycled()
        found._places = self._places.copy()
        return found

    def __len__(self) -> int:
        return len(self._places)


@dataclass(frozen=True, slots=True)
class _Mean:
    """The mean of several distributions, of which only the most probable tokens are known."""

    seen: int
    probs: dict[int, float]

    def with_one_more(self, top: Top) -> _Mean:
        seen = self.seen + 1
        kept = 1 - 1 / seen
        probs = {token: kept * probability for token, probability in self.probs.items()}
        for token, probability in zip(top.tokens, top.probs, strict=True):
            probs[token] = probs.get(token, 0.0) + probability / seen
        return _Mean(seen, dict(_best(probs, _MOST_TOKENS)) if len(probs) > _MOST_TOKENS else probs)

    def top(self) -> Top:
        best = _best(self.probs, _HANDED_OUT)
        return Top(tuple([token for token, _ in best]), tuple([probability for _, probability in best]))


_NEVER_SEEN = _Mean(0, {})


def _best(probs: dict[int, float], count: int) -> list[tuple[int, float]]:
    return sorted(probs.items(), key=itemgetter(1), reverse=True)[:count]
