"""Which outcomes of a verification are prepared for: the node where acceptance ends, and the bonus that follows it.

The drafter ranks the bonus by its own logits. A child of the node is no guess: were it the target's token, it would
have been accepted, and after its refusal the residual gives it nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from sssd_demo.saguaro.options import FanOut
from sssd_demo.trace import ROOT, DraftTree

Key = tuple[int, int]  # (the last accepted node, or ROOT; the bonus token)


@dataclass(frozen=True)
class Spread:
    """How the outcomes of one sequence's round are chosen; the numbers come from its past rounds."""

    policy: FanOut
    budget: int  # outcomes
    acceptance: float  # a: share of drafted tokens that are accepted
    exponent: float  # r: the bonus is not among the F most likely guesses with a probability that falls like F^-r
    confidence: float  # the least probable outcome that "confident" prepares


def counts(spread: Spread, k: int) -> list[int]:
    """F_0 … F_k: the bonus guesses after 0 … k accepted tokens of a chain, `spread.budget` in all.

    geometric: F_i ∝ a^(i/(1+r)) for i < k, and F_k ∝ a^(k/(1+r)) · (1 − a)^(−1/(1+r)), which makes the expected number
    of misses least (arXiv 2603.03251). The others are spread evenly. Rounded by largest remainder.
    """
    if spread.policy in ("geometric", "sized"):
        a, power = min(max(spread.acceptance, 0.01), 0.99), 1 / (1 + spread.exponent)
        shares = [a ** (i * power) for i in range(k + 1)]
        shares[k] *= (1 - a) ** -power
    else:
        shares = [1.0] * (k + 1)
    exact = [spread.budget * share / sum(shares) for share in shares]
    whole = [math.floor(each) for each in exact]
    for place in sorted(range(k + 1), key=lambda place: whole[place] - exact[place])[: spread.budget - sum(whole)]:
        whole[place] += 1
    return whole


def sized_budget(batch: int, hit_rate: float, most: int) -> int:
    """A simple size of the cache: 16 + log2(b + 1) + 4 · hit rate outcomes, or `most`, which memory allows."""
    return max(1, min(most, round(16 + math.log2(batch + 1) + 4 * hit_rate)))


def outcomes(tree: DraftTree, logits: torch.Tensor, spread: Spread) -> list[Key]:
    """The outcomes to prepare, by depth of the node, then most likely first.

    `logits` [1 + nodes, V] are the draft model's after the root and after each node. By "logits" and "confident", and
    wherever the tree is no chain, the outcomes are chosen that the draft model holds most probable altogether: with the
    probability of all tokens up to the bonus.
    """
    children = tree.children()
    if spread.policy in ("logits", "confident") or not tree.is_chain():
        return _most_probable(tree, logits, children, spread)
    found: list[Key] = []
    for accepted, count in enumerate(counts(spread, len(tree))):
        node = accepted - 1
        drafted = [tree.tokens[child] for child in children.get(node, [])]
        best = logits[accepted].topk(min(count + len(drafted), logits.shape[-1])).indices.tolist()
        found += [(node, token) for token in best if token not in drafted][:count]
    return found


def _most_probable(tree: DraftTree, logits: torch.Tensor, children: dict[int, list[int]], spread: Spread) -> list[Key]:
    laws = logits.float().log_softmax(-1)
    widest = max(map(len, children.values()), default=0)
    best = laws.topk(min(spread.budget + widest, laws.shape[-1]))
    reached = {ROOT: 0.0}
    for node, parent in enumerate(tree.parents):
        reached[node] = reached[parent] + float(laws[1 + parent, tree.tokens[node]])
    ranked: list[tuple[float, int, int]] = []
    for node in range(ROOT, len(tree)):
        drafted = {tree.tokens[child] for child in children.get(node, [])}
        guesses = zip(best.values[1 + node].tolist(), best.indices[1 + node].tolist(), strict=True)
        ranked += [(reached[node] + value, node, token) for value, token in guesses if token not in drafted]
    ranked.sort(key=lambda guess: -guess[0])
    if spread.policy == "confident":
        least = math.log(spread.confidence) if spread.confidence else -math.inf
        ranked = [guess for guess in ranked if guess[0] >= least]
    depths = [0, *tree.depths()]
    chosen = sorted(ranked[: spread.budget], key=lambda guess: (depths[1 + guess[1]], guess[1]))
    return [(node, token) for _, node, token in chosen]


def rank(bonus: int, logits: torch.Tensor, drafted: Sequence[int]) -> int:
    """The place of `bonus` among the draft model's guesses by logits [V], from 1, the `drafted` children left out."""
    better = logits > logits[bonus]
    better[list(drafted)] = False
    return 1 + int(better.sum())
