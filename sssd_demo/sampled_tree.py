"""A draft tree with the laws that its tokens were drawn from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NoReturn

import torch

from sssd_demo.trace import DraftTree


@dataclass(frozen=True)
class SampledTree(DraftTree):
    """A draft tree some of whose nodes were sampled.

    `q[row]` is the law [V] from which the sampled children of a row (0 the root, 1 + i node i) were drawn: the very
    tensor, after temperature, top-k, top-p and whatever else shaped it. Verification is exact only by that one.

    `mixed`: candidates were to join the sampled nodes. Whether any are left beside them depends on what was sampled,
    and so must not decide how the tree is judged: it is always judged as a mixed one.
    """

    q: Mapping[int, torch.Tensor] = field(default_factory=dict)
    mixed: bool = False

    @classmethod
    def of(cls, tree: DraftTree, q: Mapping[int, torch.Tensor], mixed: bool = False) -> SampledTree:
        """`tree` with the laws of its sampled nodes."""
        columns = {name: getattr(tree, name) for name in DraftTree.__dataclass_fields__}
        return cls(**columns, q=q, mixed=mixed)

    def first(self, count: int) -> NoReturn:
        """A token once sampled is never dropped: what decides could depend on it, and the law would change."""
        raise ValueError("a sampled tree cannot be cut")
