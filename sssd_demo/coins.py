"""Randomness keyed by what it is for, so that who shares a batch or how much is drafted changes no coin.

Streams of different names are independent, whatever their seeds: a drafter may use the visitor's seed too.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Coins:
    """The target's coins for one answer: each in [0, 1), uniform, and independent of all others.

    Each depends on the seed and on what it decides alone. They have 52 random bits, so that coin · mass < mass
    holds in float64. No coin is used twice: a position is drawn once in an answer, and of several rounds no two have
    the same root.
    """

    seed: int

    def position(self, position: int) -> float:
        """By which the token at absolute `position` of the text is drawn from p, the target's own law.

        Every point-mass method therefore draws the very text that autoregressive sampling draws.
        """
        return _coin(f"target {self.seed} {position}")

    def residual(self, position: int) -> float:
        """By which the token at absolute `position` is drawn where sampled drafts were refused."""
        return _coin(f"residual {self.seed} {position}")

    def accept(self, root_position: int, node: int) -> float:
        """By which sampled `node` is tested in the round whose first new token is at `root_position`.

        Keyed by the round as well as the node, since some rules test nodes whose position the next round tests again.
        """
        return _coin(f"accept {self.seed} {root_position} {node}")


def draft_coin(seed: int, root_position: int, node: int) -> float:
    """By which a drafter samples `node` of the tree that stands at `root_position`; independent of the target's."""
    return _coin(f"draft {seed} {root_position} {node}")


def branch_coin(seed: int, root_position: int, node: int, bonus: int, place: int) -> float:
    """By which a drafter samples the token at `place` of the draft it prepares for one outcome of the round whose tree
    stands at `root_position`. Each outcome has coins of its own: what one draft shows says nothing of another."""
    return _coin(f"branch {seed} {root_position} {node} {bonus} {place}")


def _coin(purpose: str) -> float:
    digest = hashlib.blake2b(purpose.encode(), digest_size=8).digest()
    return (int.from_bytes(digest, "big") >> 12) / 2**52
