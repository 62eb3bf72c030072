"""The sub-indices of a live store, each in its place: plain functions on tuples, oldest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sssd_demo.sssd.store_state import Segment
from sssd_demo.sssd.sub_index import SubIndex


@dataclass(frozen=True, eq=False)
class Part:
    """A sub-index of a live store; a full one is never merged again. Compared by identity."""

    sub_index: SubIndex
    full: bool = False

    def __len__(self) -> int:
        """Positions, separators included."""
        return len(self.sub_index.tokens)


Parts = tuple[Part, ...]


def amount(parts: Sequence[Part]) -> tuple[int, int]:
    """(tokens, documents) of all together."""
    documents = sum(part.sub_index.documents for part in parts)
    return sum(map(len, parts)) - documents, documents


def replaced(parts: Parts, old: Parts, new: Parts) -> Parts:
    """`parts` with `new` in the place of `old`; at the end if `old` is empty.

    What comes before a full part can be merged with nothing that is newer, as documents keep their order: it counts as
    full from then on. Raises `ValueError` if `old` are not neighbours among `parts`.
    """
    place = parts.index(old[0]) if old else len(parts)
    if parts[place : place + len(old)] != old:
        raise ValueError("only neighbours can be replaced, or text between them would be lost")
    result = (*parts[:place], *new, *parts[place + len(old) :])
    sealed = max((n for n, part in enumerate(result, 1) if part.full), default=0)
    return (*(part if part.full else replace(part, full=True) for part in result[:sealed]), *result[sealed:])


def segments(parts: Parts, tail_tokens: int) -> tuple[Segment, ...]:
    """The parts as they are shown; only the newest can be a tail, if it has at most `tail_tokens` positions."""

    def kind(part: Part) -> Segment:
        tail = part is parts[-1] and len(part) <= tail_tokens
        return Segment(*amount([part]), "full" if part.full else "tail" if tail else "growing")

    return tuple(map(kind, parts))
