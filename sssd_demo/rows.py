"""Which cache row a sequence stands in, and what a finished conversation leaves behind for its next turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sssd_demo.kv_cache import KVCache


@dataclass(frozen=True)
class _Memory:
    """The committed tokens of an idle row, and whose they are."""

    conversation: str
    tokens: tuple[int, ...]
    age: int


class RowTable:
    """Running sequences stand in rows 0…b−1, side by side; the other rows are free or remember a conversation."""

    def __init__(self, cache: KVCache) -> None:
        self._cache = cache
        self._memories: list[_Memory | None] = [None] * cache.rows
        self._releases = 0

    def claim(self, row: int, conversation: str | None, prompt: Sequence[int]) -> int:
        """Make `row`, the first one not running, ready for `prompt`.

        Returns how many of the prompt's tokens are already committed there: the prefix it shares with the last
        turn of the same conversation, always short of the prompt's last token, which must still be read.
        Another conversation's memory is never read; the oldest is forgotten when no row is free.
        """
        chosen = self._best_row(row, conversation)
        self.exchange(row, chosen)
        memory, self._memories[row] = self._memories[row], None
        shared = 0
        if memory and memory.conversation == conversation:
            shared = _common_prefix(memory.tokens, prompt[:-1])
        self._cache.truncate(row, shared)
        return self._cache.lengths[row]  # less than was remembered if a measurement used the row meanwhile

    def release(self, row: int, last: int, conversation: str | None, tokens: Sequence[int], beyond: int = 0) -> None:
        """The sequence in `row` ends; the one in `last`, the last running row, takes its place.

        `tokens` are the sequence's tokens; those whose keys and values are committed are remembered. As many columns
        `beyond` the committed ones move along.
        """
        self._cache.swap(row, last, beyond)
        self._releases += 1
        if conversation is not None:
            committed = tuple(tokens[: self._cache.lengths[last]])
            self._memories[last] = _Memory(conversation, committed, self._releases)
        else:
            self._cache.truncate(last, 0)

    def exchange(self, a: int, b: int) -> None:
        """Two rows change places, with what they remember."""
        self._cache.swap(a, b)
        self._memories[a], self._memories[b] = self._memories[b], self._memories[a]

    def forget(self, conversation: str) -> None:
        """Drop what idle rows remember of `conversation`."""
        for row, memory in enumerate(self._memories):
            if memory and memory.conversation == conversation:
                self._memories[row] = None
                self._cache.truncate(row, 0)

    def _best_row(self, first: int, conversation: str | None) -> int:
        def preference(row: int) -> tuple[int, int]:
            memory = self._memories[row]
            if memory is None:
                return 1, 0
            if memory.conversation == conversation:
                return 0, -memory.age
            return 2, memory.age

        return min(range(first, self._cache.rows), key=preference)


def _common_prefix(a: Sequence[int], b: Sequence[int]) -> int:
    count = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        count += 1
    return count
