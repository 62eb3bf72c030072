"""What every source of candidates offers, however it keeps its texts: runs of tokens and how they went on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sssd_demo.trace import Law, Source

POINT: Law = "point"  # a token that was looked up, not drawn from a distribution


class Node(Protocol):
    """A run of tokens that a source has seen, spelt by the way from the source's root."""

    @property
    def token(self) -> int: ...
    @property
    def count(self) -> int: ...
    @property
    def source(self) -> Source: ...
    @property
    def match_length(self) -> int: ...
    def best_children(self, cap: int) -> Sequence[Node]: ...
    def child(self, token: int) -> Node | None: ...
