"""What the target held likely, learnt once and then only read: arrays that a store file holds and a draft looks up."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sssd_demo.trace import Top

WIDTH = 8  # tokens kept of each place
MOST_KEPT = 2**16  # places in a store that is built; at 32 or 48 bytes each they are 2 or 3 MB of its file
_UNIT = 255  # probabilities are kept in steps of 1/255
_SHIFT = 32  # a key is (the token before last + 1) · 2^32 + the last token; 0 stands for no token before it
KEY = np.dtype(np.uint64)
PROBABILITY = np.dtype(np.uint8)


@dataclass(frozen=True)
class RecycledTable:
    """K places in order of their keys: `keys` [K], `tokens` [K, WIDTH] best first, `probs` [K, WIDTH] in 1/255.

    A place with fewer tokens is filled up with probability 0. Immutable; threads may share it.
    """

    keys: NDArray[np.uint64]
    tokens: NDArray[np.unsignedinteger]
    probs: NDArray[np.uint8]

    @classmethod
    def build(cls, places: Iterable[tuple[tuple[int, ...], Top]], dtype: np.dtype) -> RecycledTable:
        """From (one or two tokens, what was likely after them); `dtype` holds a token."""
        rows = sorted((_key(tokens), top) for tokens, top in places)
        table = cls.empty(dtype, len(rows))
        for row, (key, top) in enumerate(rows):
            table.keys[row] = key
            kept = min(WIDTH, len(top.tokens))
            table.tokens[row, :kept] = top.tokens[:kept]
            table.probs[row, :kept] = [round(_UNIT * probability) for probability in top.probs[:kept]]
        return table

    @classmethod
    def empty(cls, dtype: np.dtype, places: int = 0) -> RecycledTable:
        """Room for `places` places, all zero."""
        return cls(np.zeros(places, KEY), np.zeros((places, WIDTH), dtype), np.zeros((places, WIDTH), PROBABILITY))

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def nbytes(self) -> int:
        """Memory that it takes, mapped files included."""
        return self.keys.nbytes + self.tokens.nbytes + self.probs.nbytes

    def after(self, tokens: tuple[int, ...]) -> Top | None:
        """What was likely after these one or two tokens, or None if that was never seen."""
        key = _key(tokens)
        keys = self._keys
        row = bisect_left(keys, key)
        if row == len(keys) or keys[row] != key:
            return None
        place = slice(row * WIDTH, (row + 1) * WIDTH)
        steps = self._probs[place].tolist()
        kept = WIDTH - steps.count(0)  # the most probable stand first
        return Top(tuple(self._tokens[place].tolist()[:kept]), tuple([step / _UNIT for step in steps[:kept]]))

    def items(self) -> Iterator[tuple[tuple[int, ...], Top]]:
        """Every place with what was likely there."""
        for key in self._keys:
            before, last = key >> _SHIFT, key % (1 << _SHIFT)
            tokens = (before - 1, last) if before else (last,)
            found = self.after(tokens)
            if found is not None:
                yield tokens, found

    # A few items are read faster from a memoryview than from an array.

    @cached_property
    def _keys(self) -> memoryview:
        return self.keys.data

    @cached_property
    def _tokens(self) -> memoryview:
        return self.tokens.reshape(-1).data

    @cached_property
    def _probs(self) -> memoryview:
        return self.probs.reshape(-1).data


def _key(tokens: tuple[int, ...]) -> int:
    before = tokens[-2] + 1 if len(tokens) > 1 else 0
    return (before << _SHIFT) + tokens[-1]
