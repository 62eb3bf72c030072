"""Lookahead decoding: the target guesses ahead in a window, and its earlier guesses are tested (arXiv 2402.02057).

Each round has two branches, in one forward. The *lookahead branch* is a window of W columns and N − 1 levels. Level 0
holds guesses for the next W − 1 tokens after the root, which stands in its column 0; each level below holds what the
target guessed, a round later, to follow the level above. So a column is a run of tokens, and the target now guesses one
more for each: W runs of N tokens, which go to a pool. The *verification branch* holds the runs of the pool that begin
with the last token.

The window is a tree: level 0 is a chain from the root, and below it every node has the node above it, in its own
column, as its parent. A node so sees the text, level 0 up to its column, and its column.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence as Seq
from dataclasses import dataclass
from random import Random

from sssd_demo.scratch_tree import ScratchTree
from sssd_demo.speculators.draft_length import VerifySeconds
from sssd_demo.speculators.protocol import Outcome, Sequence
from sssd_demo.sssd.node import POINT
from sssd_demo.trace import EMPTY_TREE, ROOT, DraftTree, Source

LEAST = 4  # tokens in a forward, root included, from where on there is a window
WORTH = 1.5  # times as long as with one token of each a forward may take: about what the method brings at best
KEPT = 15  # runs in the pool with the same first token, the newest ones (authors' G for a model of 7B)
SOURCE: Source = "jacobi"

Run = tuple[int, ...]


@dataclass(frozen=True)
class Shape:
    """W columns and N − 1 levels."""

    columns: int
    levels: int

    @classmethod
    def within(cls, s_q: int) -> Shape:
        """For `s_q` tokens in a forward, `LEAST` or more: three quarters for the window, the rest for runs to test.

        The authors give both the same room, for a model of 7B W = G = 15 and N = 5. Here runs that begin alike share
        their nodes, and in a smaller forward a wider window with shorter runs finds more.
        """
        levels = 2 if s_q < 24 else 3
        return cls(cls._columns(s_q, levels), levels)

    def narrowed(self, s_q: int) -> Shape:
        """As many of these columns as there is room for; none if there is none."""
        return Shape(min(self.columns, self._columns(s_q, self.levels)), self.levels)

    @staticmethod
    def _columns(s_q: int, levels: int) -> int:
        return 3 * s_q // (4 * levels)

    def __len__(self) -> int:
        return self.columns * self.levels


class Lookahead:
    """A window and a pool for each sequence, gone when it ends.

    `verify_seconds` gives T, the time of a target forward.
    """

    learns_from_top = False

    def __init__(self, verify_seconds: VerifySeconds) -> None:
        self._verify_seconds = verify_seconds
        self._branches: dict[int, _Branches] = {}

    def begin(self, sequence: Sequence) -> None:
        self._branches[sequence.id] = _Branches(sequence.tokens)

    def propose(self, sequences: Seq[Sequence]) -> list[DraftTree]:
        return [self._draft(sequence, len(sequences)) for sequence in sequences]

    def observe(self, outcomes: Seq[Outcome]) -> None:
        for outcome in outcomes:
            root = outcome.sequence.tokens[-len(outcome.committed) - 1]
            self._branches[outcome.sequence.id].learn(root, outcome.scratch_next)

    def end(self, sequence: Sequence) -> None:
        self._branches.pop(sequence.id, None)  # absent if `begin` failed

    def _draft(self, sequence: Sequence, batch: int) -> DraftTree:
        return self._branches[sequence.id].draft(sequence.tokens[-1], self._length(sequence, batch))

    def _length(self, sequence: Sequence, batch: int) -> int:
        """The most tokens in a forward: where the length is left open, as many as can pay in a batch of this size.

        What a window costs is paid at once, what it brings comes rounds later: no running acceptance could tell.
        """
        length = sequence.s_q
        while sequence.left_open and length > 1 and not self._is_worth_it(batch, length, len(sequence.tokens)):
            length = length // 2 if length // 2 >= LEAST else 1
        return length

    def _is_worth_it(self, batch: int, length: int, context: int) -> bool:
        one, many = (self._verify_seconds(batch, each, context) for each in (1, length))
        return one is not None and many is not None and many <= WORTH * one


class _Branches:
    """Both branches of one sequence."""

    def __init__(self, text: Seq[int]) -> None:
        self._text = text
        self._random = Random(0)  # for a window's first tokens only, and the same in every sequence
        self._window: _Window | None = None
        self._pool: dict[int, dict[Run, None]] = {}  # by first token, the oldest run first

    def draft(self, root: int, s_q: int) -> DraftTree:
        """Runs of the pool that begin with `root`, then the window: at most `s_q` − 1 nodes."""
        self._window = self._window_within(s_q)
        beside = self._window.tree() if self._window else EMPTY_TREE
        tested = _merged(reversed(self._pool.get(root, {})), s_q - 1 - len(beside))
        return ScratchTree.of(_joined(tested, beside), scratch=len(beside)) if len(beside) else tested

    def learn(self, root: int, guesses: Seq[int]) -> None:
        """`guesses` are the target's after each node of the window, which stood below `root`."""
        if self._window and guesses:
            for first, *rest in self._window.move_on(root, guesses):
                runs = self._pool.setdefault(first, {})
                runs.pop(tuple(rest), None)
                runs[tuple(rest)] = None
                if len(runs) > KEPT:
                    del runs[next(iter(runs))]

    def _window_within(self, s_q: int) -> _Window | None:
        """The window, with fewer columns if there is less room than before; a new one where there is more."""
        if s_q < LEAST:
            return None
        shape = Shape.within(s_q)
        if self._window and len(self._window.shape) >= len(shape) and self._window.shape.narrowed(s_q).columns:
            self._window.narrow(self._window.shape.narrowed(s_q))
            return self._window
        # Whatever it starts with, the target soon overwrites; the authors, too, take tokens of the text at random.
        ahead = shape.columns + shape.levels - 2
        return _Window(shape, [self._random.choice(self._text) for _ in range(ahead)])


class _Window:
    """Level 0 stands without its column 0, the root. While levels are missing, there are as many more columns."""

    def __init__(self, shape: Shape, first_level: list[int]) -> None:
        self.shape = shape
        self._levels = [first_level]

    def narrow(self, shape: Shape) -> None:
        """Drop the last columns, so that it has `shape`."""
        self.shape = shape
        columns = shape.columns + shape.levels - len(self._levels)
        first, *others = self._levels
        self._levels = [first[: columns - 1], *(level[:columns] for level in others)]

    def tree(self) -> DraftTree:
        """Its nodes, level by level."""
        first, *others = self._levels
        tokens, parents = [*first], [*range(ROOT, len(first) - 1)]
        above = [ROOT, *range(len(first))]
        for level in others:
            parents += above
            above = [*range(len(tokens), len(tokens) + len(level))]
            tokens += level
        return _tree(tokens, parents, [0.0] * len(tokens))

    def move_on(self, root: int, guesses: Seq[int]) -> list[Run]:
        """Add what the target guessed after the last level, move one token ahead, and return the runs now whole.

        It moves one token, also where the round committed several: guesses that come true a little later are good
        enough for a pool (the authors' program does the same).
        """
        newest = [*guesses[-len(self._levels[-1]) :]]
        if len(self._levels) < self.shape.levels:
            # Places stay what they are: the column next to the root becomes the root's.
            if len(self._levels) > 1:
                newest = newest[1:]
            self._levels = [*(level[1:] for level in self._levels), newest]
            return []
        runs = [*zip([root, *self._levels[0]], *self._levels[1:], newest, strict=True)]
        self._levels = [self._levels[1][1:], *self._levels[2:], newest]
        return runs


def _merged(runs: Iterable[Run], room: int) -> DraftTree:
    """`runs` as one tree of at most `room` nodes, in their order; a node's score is the share of runs that begin so."""
    tokens: list[int] = []
    parents: list[int] = []
    times: list[int] = []
    places: dict[tuple[int, int], int] = {}  # (parent, token) → node
    runs = [*runs]
    for run in runs:
        parent = ROOT
        for token in run:
            if (parent, token) not in places:
                if len(tokens) == room:
                    break
                places[parent, token] = len(tokens)
                tokens.append(token)
                parents.append(parent)
                times.append(0)
            parent = places[parent, token]
            times[parent] += 1
    return _tree(tokens, parents, [count / len(runs) for count in times])


def _joined(first: DraftTree, second: DraftTree) -> DraftTree:
    """The nodes of both trees below one root."""
    shifted = [parent if parent == ROOT else len(first) + parent for parent in second.parents]
    return _tree([*first.tokens, *second.tokens], [*first.parents, *shifted], [*first.probs, *second.probs])


def _tree(tokens: Seq[int], parents: Seq[int], scores: Seq[float]) -> DraftTree:
    nodes = len(tokens)
    return DraftTree(tuple(tokens), tuple(parents), tuple(scores), (POINT,) * nodes, (SOURCE,) * nodes, (1,) * nodes)
