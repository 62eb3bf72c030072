"""Saguaro sampling: a draft's law bent so that what follows a refusal is easier to foresee.

After a refusal the target's token comes from norm([p − q]+). Where q is small on the tokens whose outcomes are
prepared, they get more of that residual: more hits, fewer accepted drafts. The token is drawn from the bent law and
verified by it, so the text's law is the target's whatever the bend. Off by default: no end-to-end gain was reported for
it (arXiv 2603.03251).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from sssd_demo.saguaro.options import Bend

SUPPORT = 0.1  # ε: how much of the unbent law is mixed into the second form, so that no token is out of reach
RANKS = 16  # ranks of the drafter's guesses whose shares are estimated one by one


@dataclass(frozen=True)
class Bending:
    """What bends the laws of one draft.

    `fan` holds how many bonus guesses are prepared after 0, 1, 2, … accepted tokens; `shares` how often the target's
    token after a refusal held rank 1, 2, … among the drafter's guesses, in past rounds.
    """

    kind: Bend = "off"
    c: float = 1.0
    fan: tuple[int, ...] = ()
    shares: tuple[float, ...] = ()


STRAIGHT = Bending()


def bent(law: torch.Tensor, bending: Bending, accepted: int) -> torch.Tensor:
    """The law [V] to draw the token after `accepted` drafted ones from; `law` is the draft model's, normalised."""
    if bending.kind == "c" and accepted < len(bending.fan):
        return _lighter_on_the_prepared(law, bending.fan[accepted], bending.c)
    if bending.kind == "root" and bending.shares:
        return _towards_the_residual(law, bending.shares)
    return law


def _lighter_on_the_prepared(law: torch.Tensor, count: int, c: float) -> torch.Tensor:
    """σ_{F,C} of the paper: the `count` most likely tokens with `c` times their weight."""
    weights = law.clone()
    prepared = law.topk(min(count, len(law))).indices
    weights[prepared] *= c
    mass = weights.sum()
    return weights / mass if mass > 0 else law  # nothing else was possible


def _towards_the_residual(law: torch.Tensor, shares: tuple[float, ...]) -> torch.Tensor:
    """q' ∝ √(q · r̂), mixed with q. The residual r is not known when drafting: r̂ is by the ranks of past rounds."""
    ranked = law.topk(min(len(shares), len(law))).indices
    known = torch.tensor(shares[: len(ranked)], dtype=law.dtype, device=law.device)
    residual = law.clone()
    residual[ranked] = 0
    tail = residual.sum()
    if tail > 0:
        residual *= max(0.0, 1.0 - float(known.sum())) / tail
    residual[ranked] = known
    weights = (law * residual).sqrt()
    mass = weights.sum()
    return (1 - SUPPORT) * weights / mass + SUPPORT * law if mass > 0 else law
