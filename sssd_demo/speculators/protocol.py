"""What the engine asks of a drafting method, and the plain data they exchange."""

from __future__ import annotations

from collections.abc import Sequence as Seq
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from sssd_demo.request import Drafting
from sssd_demo.saguaro.options import SaguaroOptions
from sssd_demo.sampling import Sampling
from sssd_demo.trace import DraftTree, SaguaroRound, Top


@dataclass
class Sequence:
    """One answer being written, as a speculator sees it. The engine alone changes it."""

    id: int  # unique in the life of the engine
    tokens: list[int]  # prompt and answer so far; the last one is the root of the next tree
    prompt_length: int
    s_q: int  # most tokens the target will process in the coming round, root included
    stores: tuple[str, ...]  # names of the datastores this request may draw from
    sampling: Sampling = Sampling()
    drafting: Drafting = Drafting()  # for methods that have a draft model
    saguaro: SaguaroOptions = SaguaroOptions()  # for those that prepare drafts ahead
    room: int = 2**31  # tokens that may still be written
    conversation: str | None = None  # whose next turn may begin with the same text
    left_open: bool = False  # whether s_q is only a limit, and the length left to the machine


@dataclass(frozen=True)
class Outcome:
    """What one round of one sequence came to; `path` holds the indices of accepted nodes in `tree`."""

    sequence: Sequence  # already extended by `committed`
    tree: DraftTree
    path: tuple[int, ...]
    bonus: int
    committed: tuple[int, ...]
    top: tuple[Top, ...] = ()  # the target's most probable tokens after the root, then after each node of the tree
    scratch_next: tuple[int, ...] = ()  # the target's most likely token after each scratch node of the tree

    @property
    def committed_top(self) -> tuple[Top, ...]:
        """What the target held likely where each of `committed` came to stand; empty where nobody asked for it."""
        return path_top(self.top, self.path)[: len(self.committed)]


def path_top(top: tuple[Top, ...], path: tuple[int, ...]) -> tuple[Top, ...]:
    """Of the entries for root and nodes those along the path, the root's first; none where there are none."""
    return (top[0], *(top[1 + node] for node in path)) if top else ()


class Speculator(Protocol):
    """A drafting method. One instance serves all sequences of an engine, on the engine's thread."""

    learns_from_top: bool  # whether outcomes must carry `top`, which costs the engine a partial sort a round

    def begin(self, sequence: Sequence) -> None:
        """A sequence joins; its prompt and first token are known."""

    def propose(self, sequences: Seq[Sequence]) -> list[DraftTree]:
        """One draft tree for each sequence, of at most `sequence.s_q - 1` nodes; a `SampledTree` if any were drawn.
        If this raises, it is asked again for each sequence alone.

        How it is drawn may depend on the text and on past outcomes, never on the coins that will verify it; and once
        a token was drawn it stays in the tree.
        """

    def observe(self, outcomes: Seq[Outcome]) -> None:
        """Learn from a round that has just been committed. If this raises, it is asked again for each outcome alone."""

    def end(self, sequence: Sequence) -> None:
        """A sequence leaves (finished, cancelled or failed); forget it."""


@runtime_checkable
class Overlapping(Speculator, Protocol):
    """A method that goes on drafting while the target verifies."""

    @property
    def drafting_beside(self) -> bool:
        """Whether it is doing so, on cores of this machine that the target must then leave to it."""

    def verifying(self, sequences: Seq[Sequence], trees: Seq[DraftTree]) -> dict[int, SaguaroRound]:
        """The target's forward over these trees comes next; they may be shorter than what was proposed.

        Returns, by sequence id, what the rounds should tell of how the drafts came about.
        """
