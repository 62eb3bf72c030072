"""A draft tree that lets the target compute more than it tests."""

from __future__ import annotations

from dataclasses import dataclass

from sssd_demo.trace import DraftTree


@dataclass(frozen=True)
class ScratchTree(DraftTree):
    """A tree whose last `scratch` nodes are computed in the target's forward and never tested.

    They cannot become text; the target's most likely token after each is handed back to who proposed them
    (`Outcome.scratch_next`). Lookahead's window lives there (arXiv 2402.02057). No tested node has a scratch node as
    its parent.
    """

    scratch: int = 0

    @classmethod
    def of(cls, tree: DraftTree, scratch: int) -> ScratchTree:
        """`tree`, whose last `scratch` nodes are not to be tested."""
        return cls(**{name: getattr(tree, name) for name in DraftTree.__dataclass_fields__}, scratch=scratch)

    def drafted(self) -> DraftTree:
        """The nodes that are tested."""
        return DraftTree.first(self, len(self) - self.scratch)
