"""Acceptance: which drafted tokens stand, and which token the target adds. Nothing else.

Point-mass trees (SSSD and every other n-gram method): at each node the target draws its own token y from p; if y
is a child, descend, else y is the bonus. The candidates never influence the draw, so the output law is p's for
any candidate set, duplicates included. Greedy decoding is the case of a one-hot p.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch

from sssd_demo.sampling import Sampling, distribution
from sssd_demo.trace import ROOT, DraftTree, Fate, VerifiedTree


@dataclass(frozen=True)
class Verdict:
    """The accepted path (node indices by depth), the bonus token with its probability, and the judged tree."""

    path: tuple[int, ...]
    bonus: int
    bonus_prob: float
    tree: VerifiedTree


@dataclass(frozen=True)
class _Draws:
    """What the target chose at every row (0 is the root, 1 + i is node i), and how that bears on each node."""

    chosen: list[int]  # token per row
    chosen_probs: list[float]
    node_probs: list[float]  # p(node's token | its parent)
    node_coins: Sequence[float | None]  # the coin each node would be tested with


def verify_point_mass(
    tree: DraftTree, logits: torch.Tensor, sampling: Sampling, position: int, coin: Callable[[int], float]
) -> Verdict:
    """Judge one tree whose nodes are all point masses.

    `logits` [1 + nodes, V] are the target's after the root and after each node. `position` is the absolute index
    of the first token to be drawn, that is, the number of tokens up to and including the root. `coin(t)` in
    [0, 1) decides the token at absolute position t; greedy settings ask for none.
    """
    depths = [0, *tree.depths()]
    parent_rows = torch.tensor([1 + parent for parent in tree.parents], dtype=torch.long, device=logits.device)
    tokens = torch.tensor(tree.tokens, dtype=torch.long, device=logits.device)
    if sampling.greedy:
        draws = _greedy_draws(logits.float(), parent_rows, tokens)
    else:
        coins = [coin(position + depth) for depth in depths]
        draws = _sampled_draws(distribution(logits, sampling), coins, parent_rows, tokens)
    return _walk(tree, draws)


def _greedy_draws(logits: torch.Tensor, parent_rows: torch.Tensor, tokens: torch.Tensor) -> _Draws:
    best, chosen = logits.max(-1)
    normaliser = logits.logsumexp(-1)
    node_logits = logits[parent_rows, tokens] - normaliser[parent_rows]
    return _Draws(
        chosen=chosen.tolist(),
        chosen_probs=(best - normaliser).exp().tolist(),
        node_probs=node_logits.exp().tolist(),
        node_coins=[None] * len(tokens),
    )


def _sampled_draws(p: torch.Tensor, coins: Sequence[float], parent_rows: torch.Tensor, tokens: torch.Tensor) -> _Draws:
    """Draw at every row by inverse CDF.

    Token x owns the stretch [F(x) − p(x), F(x)) of the cumulative law F. The coin a child x is tested with is the
    row's coin measured from the start of that stretch, modulo 1: again uniform, and below p(x) exactly when the
    draw is x. So "accept iff coin < p(x)" can be checked from the two numbers alone; both are shares of the row's
    mass, which in float32 is only nearly 1.
    """
    p = p.double()
    cumulative = p.cumsum(-1)
    mass = cumulative[:, -1:]
    drawn_at = torch.tensor(coins, dtype=torch.float64, device=p.device)[:, None] * mass
    chosen = torch.searchsorted(cumulative, drawn_at, right=True)
    starts = cumulative[parent_rows, tokens] - p[parent_rows, tokens]
    node_coins = torch.remainder(drawn_at[parent_rows, 0] - starts, mass[parent_rows, 0]) / mass[parent_rows, 0]
    return _Draws(
        chosen=chosen[:, 0].tolist(),
        chosen_probs=(p.gather(-1, chosen) / mass)[:, 0].tolist(),
        node_probs=(p[parent_rows, tokens] / mass[parent_rows, 0]).tolist(),
        node_coins=node_coins.tolist(),
    )


def _walk(tree: DraftTree, draws: _Draws) -> Verdict:
    """Descend while the target's own choice is a child; siblings passed over and the last children are rejected."""
    children = tree.children()
    fates: list[Fate] = ["ignored"] * len(tree)
    path: list[int] = []
    node: int | None = ROOT
    row = 0
    while node is not None:
        row = 1 + node
        following = None
        for child in children.get(node, []):
            # A duplicate of the token already descended to is passed over like any other sibling.
            if following is None and tree.tokens[child] == draws.chosen[row]:
                following = child
                path.append(child)
                fates[child] = "accepted"
            else:
                fates[child] = "rejected"
        node = following
    return Verdict(
        path=tuple(path),
        bonus=draws.chosen[row],
        bonus_prob=draws.chosen_probs[row],
        tree=VerifiedTree.of(
            tree,
            target_probs=tuple(draws.node_probs),
            coins=tuple(
                coin if fate != "ignored" else None for coin, fate in zip(draws.node_coins, fates, strict=True)
            ),
            fates=tuple(fates),
        ),
    )


def cut(verdict: Verdict, limit: int, end_tokens: frozenset[int]) -> tuple[Verdict, tuple[int, ...]]:
    """The verdict and its committed tokens, ended at the first end token or after `limit` ≥ 1 tokens.

    What stands beyond the cut never reaches the text: those nodes become ignored, whatever their test said.
    """
    tree = verdict.tree
    committed = (*(tree.tokens[node] for node in verdict.path), verdict.bonus)[:limit]
    for count, token in enumerate(committed, start=1):
        if token in end_tokens:
            committed = committed[:count]
            break
    if len(committed) > len(verdict.path):
        return verdict, committed
    beyond = [depth > len(committed) for depth in tree.depths()]
    ended = replace(
        tree,
        coins=tuple(None if gone else coin for gone, coin in zip(beyond, tree.coins, strict=True)),
        fates=tuple("ignored" if gone else fate for gone, fate in zip(beyond, tree.fates, strict=True)),
    )
    return Verdict(verdict.path[: len(committed)], verdict.bonus, verdict.bonus_prob, ended), committed
