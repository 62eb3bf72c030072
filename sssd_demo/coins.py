"""Randomness keyed by what it is for, so that who shares a batch or how much is drafted changes no coin."""

from __future__ import annotations

import hashlib


def position_coin(seed: int, position: int) -> float:
    """The coin in [0, 1) by which the target draws its token at absolute `position` of a text.

    It depends on (seed, position) alone: every point-mass method therefore draws the very text that
    autoregressive sampling draws. It has 52 random bits, so that coin · mass < mass holds in float64.
    """
    digest = hashlib.blake2b(f"target {seed} {position}".encode(), digest_size=8).digest()
    return (int.from_bytes(digest, "big") >> 12) / 2**52
