"""Seeded bugs: coins that are used twice. Each must fail the proofs."""

from __future__ import annotations

from collections.abc import Hashable

from tests.proofs.exact import Keys


class OneCoinForAllDepths(Keys):
    def accept(self, root: int, node: int) -> Hashable:
        return "accept", root

    def position(self, position: int) -> Hashable:
        return "target"


class OneCoinDraftsAndTests(Keys):
    """A draft and a target that share a generator."""

    def draft(self, root: int, node: int) -> Hashable:
        return self.accept(root, node)


class OneCoinTestsAndDraws(Keys):
    """Of a chain: the coin that refused a token also draws what stands in its place."""

    def accept(self, root: int, node: int) -> Hashable:
        return self.residual(root + node)


class TestsByPositionAlone(Keys):
    """Of a chain: the next round tests a position again by the coin of this round."""

    def accept(self, root: int, node: int) -> Hashable:
        return "accept", root + node


class DraftsByPositionAlone(Keys):
    """Of a chain: the next round drafts a position again by the coin of this round."""

    def draft(self, root: int, node: int) -> Hashable:
        return "draft", root + node
