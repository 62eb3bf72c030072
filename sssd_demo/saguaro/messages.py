"""What the engine and the drafter tell each other: plain picklable data. Keys and values never travel, tokens and q do.

In every round the engine sends `Ask`, hears `Reply`, and sends `Serve` when the target begins to verify.
"""

from __future__ import annotations

from dataclasses import dataclass

from sssd_demo.saguaro.bent_law import STRAIGHT, Bending
from sssd_demo.saguaro.fan_out import Spread
from sssd_demo.speculators.protocol import Sequence
from sssd_demo.trace import EMPTY_TREE, DraftTree, Span


@dataclass(frozen=True)
class Ready:
    """The drafter has loaded its model. `step_seconds` is what a forward of so many tokens takes, by their number."""

    step_seconds: dict[int, float]


@dataclass(frozen=True)
class Failed:
    """The drafter gives up; `reason` is one sentence."""

    reason: str


@dataclass(frozen=True)
class Happened:
    """What one sequence's last round came to: accepted nodes of the tree that was served, and all new tokens."""

    id: int
    path: tuple[int, ...]
    committed: tuple[int, ...]


@dataclass(frozen=True)
class Wanted:
    """A sequence needs a draft. If its outcome was not prepared and `redraft`, `k` tokens are drafted on the spot."""

    id: int
    k: int
    redraft: bool
    apart: bool = False  # not together with the other sequences that missed
    bending: Bending = STRAIGHT


@dataclass(frozen=True)
class Ask:
    version: int
    joined: tuple[Sequence, ...]
    left: tuple[int, ...]
    happened: tuple[Happened, ...]
    wanted: tuple[Wanted, ...]


@dataclass(frozen=True)
class Drafted:
    """The answer for one sequence; `tree` holds what was drafted for this very outcome, empty if nothing was."""

    id: int
    tree: DraftTree = EMPTY_TREE
    hit: bool = False
    keys: tuple[tuple[int, int], ...] = ()
    rank: int | None = None
    nearest: DraftTree = EMPTY_TREE  # candidates from the prepared outcome most like the true one


@dataclass(frozen=True)
class Reply:
    """Answers `Ask` of the same version. `spans` is all that the drafter has done since its last reply, in order."""

    version: int
    drafts: tuple[Drafted, ...]
    spans: tuple[Span, ...]


@dataclass(frozen=True)
class Served:
    """The tree that the target verifies for one sequence, and what to prepare meanwhile: `k` tokens for each outcome.

    No more than `room` tokens may still be written. `own`: the tree is the drafter's last one, or its beginning.
    Nothing is prepared without a `spread`.
    """

    id: int
    tree: DraftTree
    own: bool
    k: int
    room: int
    spread: Spread | None
    bending: Bending = STRAIGHT


@dataclass(frozen=True)
class Serve:
    served: tuple[Served, ...]


@dataclass(frozen=True)
class Stop:
    """The drafter should end."""
