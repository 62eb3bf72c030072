"""What the target itself held likely after one or two tokens, averaged over the places where it stood there.

Verification computes the target's whole distribution at every position anyway. Keeping its most probable tokens by the
tokens before them gives the next draft a start where no text matches (after Token Recycling, arXiv 2408.08696,
which keeps the latest sight of one token; here it is the mean, and of two tokens where there is one).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nlargest
from operator import itemgetter

from sssd_demo.trace import DraftTree, Top

MOST_PLACES = 50_000  # up to 110 MB
LONGEST_KEY = 2
_MOST_TOKENS = 16  # kept of a place: more than are handed out, so that a late riser is not cut off at once
_HANDED_OUT = 8


class Recycled:
    """Grows while an answer is written; belongs to whoever may see what it has seen.

    Past `most_places` (None: no limit), of up to 2.2 kB each, those not seen for longest are forgotten. One thread may
    learn while others look things up.
    """

    def __init__(self, most_places: int | None = MOST_PLACES) -> None:
        self._most_places = most_places
        self._places: dict[tuple[int, ...], _Mean] = {}

    def learn(self, tokens: Sequence[int], top: Sequence[Top]) -> None:
        """`top[-1]` stood before the last of `tokens`, `top[-2]` before the one before it, and so on."""
        first = len(tokens) - len(top)
        for position, seen in enumerate(top, first):
            self._learn_after(tuple(tokens[max(0, position - LONGEST_KEY) : position]), seen)
        self._forget()

    def learn_tree(self, before: Sequence[int], tree: DraftTree, top: Sequence[Top]) -> None:
        """Of a tree verified after the tokens `before`: `top[0]` followed these, `top[1 + i]` node i, rejected or not.

        That a token was refused here does not keep what would have followed it from being of use elsewhere.
        """
        contexts = [tuple(before[-LONGEST_KEY:])]
        for token, parent in zip(tree.tokens, tree.parents, strict=True):
            contexts.append((*contexts[1 + parent], token)[-LONGEST_KEY:])
        for context, seen in zip(contexts, top, strict=False):  # nothing was kept of a round that paused
            self._learn_after(context, seen)
        self._forget()

    def _learn_after(self, context: tuple[int, ...], seen: Top) -> None:
        """`context` are the last tokens before the place, at most `LONGEST_KEY`."""
        for start in range(len(context)):
            key = context[start:]
            # The place seen last stands last. For a moment it is gone, and another thread may miss it once.
            self._places[key] = self._places.pop(key, _NEVER_SEEN).with_one_more(seen)

    def _forget(self) -> None:
        while self._most_places is not None and len(self._places) > self._most_places:
            del self._places[next(iter(self._places))]

    def after(self, tokens: tuple[int, ...]) -> Top | None:
        """What was likely after these one or two tokens, or None if that was never seen."""
        place = self._places.get(tokens)
        return place.top() if place else None

    def most_seen(self, most: int) -> dict[tuple[int, ...], Top]:
        """What was likely at the `most` places that were seen most often."""
        best = nlargest(most, self._places.items(), key=lambda item: item[1].seen)
        return {key: place.top() for key, place in best}

    def copy(self) -> Recycled:
        """All that is known now, without what is learnt later."""
        found = Recycled(self._most_places)
        found._places = self._places.copy()
        return found

    def __len__(self) -> int:
        return len(self._places)


@dataclass(slots=True)
class _Mean:
    """The mean of several distributions, of which only the most probable tokens are known; `sums` ÷ `seen`."""

    seen: int
    sums: dict[int, float]
    found: Top | None = None  # the answer of `top`, once somebody has asked

    def with_one_more(self, top: Top) -> _Mean:
        if not self.seen:
            return _Mean(1, dict(zip(top.tokens, top.probs, strict=True)))
        sums = self.sums.copy()
        for token, probability in zip(top.tokens, top.probs, strict=True):
            sums[token] = sums.get(token, 0.0) + probability
        return _Mean(self.seen + 1, dict(_best(sums, _MOST_TOKENS)) if len(sums) > _MOST_TOKENS else sums)

    def top(self) -> Top:
        if self.found is None:
            best = _best(self.sums, _HANDED_OUT)
            self.found = Top(tuple([token for token, _ in best]), tuple([total / self.seen for _, total in best]))
        return self.found


_NEVER_SEEN = _Mean(0, {})


def _best(sums: dict[int, float], count: int) -> list[tuple[int, float]]:
    return sorted(sums.items(), key=itemgetter(1), reverse=True)[:count]
