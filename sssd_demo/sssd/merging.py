"""When small sub-indices become larger ones: sizes in, decision out.

A conversation is indexed by itself in a millisecond, but a lookup takes as long as there are sub-indices. So the newest
ones are sorted again together, a few at first, ever more at ever longer intervals (a log-structured merge): a token is
sorted again O(log n) times, and below a full sub-index there are O(log n) others, each several times as large as
all that came after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sssd_demo.sssd.datastore import MAX_TOKENS
from sssd_demo.sssd.recycled import MOST_PLACES

MERGE_RATIO = 8  # what is less than this many times as large as all that is newer is merged with it
TAIL_TOKENS = 4096  # up to here sorting costs about as much as starting to sort
TAIL_SHARE = 16  # …but a tail is never more than this part of a sub-index, however small those are


@dataclass(frozen=True)
class Limits:
    """How large a live store may become: `max_tokens` positions in a sub-index, the newest few sub-indices.

    Sub-indices that are not full yet do not count. `max_places` are those of which it remembers what was likely there.
    """

    max_tokens: int = MAX_TOKENS
    max_sub_indices: int = 8  # authors of arXiv 2411.05894
    max_places: int = MOST_PLACES

    def __post_init__(self) -> None:
        if self.max_tokens < 2 or self.max_sub_indices < 1:
            raise ValueError(f"a store needs at least one sub-index of two positions, but is given {self}")

    @property
    def tail_tokens(self) -> int:
        """New documents are sorted together with the newest sub-index while it is no larger than this."""
        return min(TAIL_TOKENS, self.max_tokens // TAIL_SHARE)


DEFAULT_LIMITS = Limits()


def merge_from(sizes: Sequence[int], affordable: int) -> int | None:
    """The first of those sub-indices, oldest first, that should become one now; None if all is well.

    `sizes` leaves out the full ones. At most `affordable` positions can be sorted at once.
    """
    first = None
    newer = sizes[-1] if sizes else 0
    for place in range(len(sizes) - 2, -1, -1):
        if sizes[place] + newer > affordable:
            break
        if sizes[place] < MERGE_RATIO * newer:
            first = place
        newer += sizes[place]
    return first
