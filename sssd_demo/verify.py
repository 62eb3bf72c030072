"""From a draft tree and the target's logits to a verdict: which drafted tokens stand, and which one the target adds.

The rules themselves are in `rules.py`. Here logits become laws, coins are tossed, and what was decided is written down
so that it can be re-done by hand.

Greedy decoding is the case of a one-hot p. Every rule then comes to the same: descend while the target's most likely
token is a child. No coin is needed, nor is what the drafts were drawn from.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import torch
import torch.nn.functional as F

from sssd_demo.rules import Comparison, Rule, block, number, top_down, traversal
from sssd_demo.sampled_tree import SampledTree
from sssd_demo.sampling import Sampling, distribution
from sssd_demo.trace import ROOT, AcceptanceRule, Decision, DraftTree, Draw, Fate, Held, VerifiedTree

HELD = 4  # most likely tokens of each law that are kept of a test

_RULES: dict[AcceptanceRule, Rule] = {"chain": top_down, "tree": top_down, "block": block, "traversal": traversal}


class TargetCoins(Protocol):
    """The coins that decide for one answer: see `coins.Coins`."""

    def position(self, position: int) -> float:
        """For drawing the token at `position` from the target's own law."""

    def residual(self, position: int) -> float:
        """For drawing it where sampled drafts were refused."""

    def accept(self, root_position: int, node: int) -> float:
        """For testing a sampled node."""


@dataclass(frozen=True)
class Case:
    """One sequence's tree, to be judged.

    `position` is the absolute index of the first token to be drawn, that is, the number of tokens up to and including
    the root. `rule` is for trees of sampled nodes alone; any other tree is judged top-down.
    """

    tree: DraftTree
    sampling: Sampling
    position: int
    coins: TargetCoins
    rule: AcceptanceRule = "tree"


@dataclass(frozen=True)
class Verdict:
    """The accepted path (node indices by depth), the bonus token with its probability by p, and the judged tree."""

    path: tuple[int, ...]
    bonus: int
    bonus_prob: float
    tree: VerifiedTree
    rule: AcceptanceRule = "tree"
    decisions: tuple[Decision, ...] = ()
    draw: Draw | None = None


def verify(cases: Sequence[Case], logits: torch.Tensor) -> list[Verdict]:
    """Judge a batch. `logits` [B, Q, V] are the target's: row 0 follows the root, row 1 + i node i, then padding.

    Cases of the same sampling settings have their laws computed together. Raises `ValueError` for a tree that its rule
    cannot judge.
    """
    verdicts: dict[int, Verdict] = {}
    groups: dict[Sampling, list[int]] = {}
    for at, case in enumerate(cases):
        groups.setdefault(replace(case.sampling, seed=0), []).append(at)
    for sampling, members in groups.items():
        rows = [logits[at, : 1 + len(cases[at].tree)] for at in members]
        together = torch.cat(rows) if len(rows) > 1 else rows[0]
        if sampling.greedy:
            judged = _greedy([cases[at] for at in members], together)
        else:
            laws = distribution(together, sampling).split([len(row) for row in rows])
            judged = [_sampled(cases[at], p) for at, p in zip(members, laws, strict=True)]
        verdicts.update(zip(members, judged, strict=True))
    return [verdicts[at] for at in range(len(cases))]


def _greedy(cases: Sequence[Case], logits: torch.Tensor) -> list[Verdict]:
    """Every case has its 1 + nodes rows of `logits` [N, V], one after the other."""
    logits = logits.float()
    best, chosen = logits.max(-1)
    normaliser = logits.logsumexp(-1)
    rows: list[int] = []  # of each node's parent
    start = 0
    for case in cases:
        rows.extend(start + 1 + parent for parent in case.tree.parents)
        start += 1 + len(case.tree)
    tokens = [token for case in cases for token in case.tree.tokens]
    at = torch.tensor(rows, dtype=torch.long, device=logits.device)
    token_at = torch.tensor(tokens, dtype=torch.long, device=logits.device)
    # Read back at once, as lists: a GPU is waited for once.
    node_probs = iter((logits[at, token_at] - normaliser[at]).exp().tolist())
    drawn = iter(zip(chosen.tolist(), (best - normaliser).exp().tolist(), strict=True))
    return [
        _descended(case, [next(drawn) for _ in range(1 + len(case.tree))], [next(node_probs) for _ in case.tree.tokens])
        for case in cases
    ]


def _descended(case: Case, drawn: Sequence[tuple[int, float]], node_probs: Sequence[float]) -> Verdict:
    """`drawn` holds the target's choice at every row and its probability, `node_probs` that of each node's token."""
    tree = case.tree
    path = _descend(tree, [token for token, _ in drawn])
    bonus, bonus_prob = drawn[1 + path[-1] if path else 0]
    return Verdict(
        path=tuple(path),
        bonus=bonus,
        bonus_prob=bonus_prob,
        tree=VerifiedTree.of(
            tree,
            target_probs=tuple(node_probs),
            coins=(None,) * len(tree),
            fates=_fates(tree, path, _children_of(tree, [ROOT, *path])),
        ),
        rule=rule_of(case),
    )


def _children_of(tree: DraftTree, nodes: Sequence[int]) -> set[int]:
    return {child for child, parent in enumerate(tree.parents) if parent in nodes}


def _descend(tree: DraftTree, chosen: Sequence[int]) -> list[int]:
    """The path of nodes that hold what the target chose at each row."""
    children = tree.children()
    path: list[int] = []
    node: int | None = ROOT
    while node is not None:
        row = 1 + node
        node = next((child for child in children.get(node, []) if tree.tokens[child] == chosen[row]), None)
        if node is not None:
            path.append(node)
    return path


def _sampled(case: Case, p: torch.Tensor) -> Verdict:
    """Judge by coins; `p` [1 + nodes, V] are the target's laws in float32."""
    tree = case.tree
    q = tree.q if isinstance(tree, SampledTree) else {}
    rule = rule_of(case)
    laws = _Laws(p)
    choices = _Tosses(case)
    wide = {row: _widened(law, p.shape[-1]).to(p.device, torch.float64) for row, law in q.items()}
    path, bonus = _RULES[rule](tree, laws, wide, choices)
    end = path[-1] if path else ROOT
    tested = {decision.node: decision for decision in choices.decisions}
    rows = torch.tensor([1 + parent for parent in tree.parents], dtype=torch.long, device=p.device)
    tokens = torch.tensor(tree.tokens, dtype=torch.long, device=p.device)
    mass = p.sum(-1, dtype=torch.float64)  # of a float32 law nearly 1
    return Verdict(
        path=tuple(path),
        bonus=bonus,
        bonus_prob=float(laws[1 + end][bonus]),
        tree=VerifiedTree.of(
            tree,
            target_probs=tuple((p[rows, tokens].double() / mass[rows]).tolist()),
            coins=tuple(tested[node].coin if node in tested else None for node in range(len(tree))),
            fates=_fates(tree, path, tested),
        ),
        rule=rule,
        decisions=choices.explained(end, bonus) if q else (),
        draw=choices.draws[end],
    )


def rule_of(case: Case) -> AcceptanceRule:
    """The rule that judges this case. Raises `ValueError` for a tree that the rule cannot judge.

    It may not depend on which tokens were sampled.
    """
    tree = case.tree
    if not len(tree) or "point" in tree.laws or (isinstance(tree, SampledTree) and tree.mixed):
        return "tree"
    if case.rule in ("chain", "block") and not tree.is_chain():
        raise ValueError(f"the rule {case.rule} judges chains only")
    return case.rule


class _Laws:
    """p[row] in float64, with a mass of exactly 1, made when a rule asks for it: most rows of a tree never matter."""

    def __init__(self, p: torch.Tensor) -> None:
        self._p = p
        self._made: dict[int, torch.Tensor] = {}

    def __getitem__(self, row: int) -> torch.Tensor:
        if row not in self._made:
            law = self._p[row].double()
            self._made[row] = law / law.sum()
        return self._made[row]


@dataclass
class _Tosses:
    """Decides by the case's coins, and keeps what every decision rested on."""

    case: Case
    decisions: list[Decision] = field(default_factory=list)
    comparisons: dict[int, Comparison] = field(default_factory=dict)  # by the sampled node that was tested
    draws: dict[int, Draw] = field(default_factory=dict)  # by the node after which was drawn

    def accept(self, node: int, threshold: float, comparison: Comparison) -> bool:
        token = self.case.tree.tokens[node]
        coin = self.case.coins.accept(self.case.position, node)
        self.comparisons[node] = comparison
        self.decisions.append(
            Decision(
                node=node,
                weight=float(comparison.weight),
                p=number(comparison.p[token]),
                q=number(comparison.q[token]),
                mass=comparison.mass,
                threshold=min(1.0, float(threshold)),
                coin=coin,
            )
        )
        return coin < threshold

    def explained(self, end: int, bonus: int) -> tuple[Decision, ...]:
        """The decisions with the shares of the tokens that what came next rests on, so that it can be re-done.

        These are the node's own token, its siblings', and the bonus, which came after node `end`.
        """
        tree = self.case.tree
        children = tree.children()

        def held(node: int) -> tuple[Held, ...]:
            if node not in self.comparisons:
                return ()
            parent = tree.parents[node]
            siblings = [tree.tokens[child] for child in children[parent]]
            return _held(self.comparisons[node], [tree.tokens[node], *siblings, *([bonus] if parent == end else [])])

        return tuple(replace(decision, held=held(decision.node)) for decision in self.decisions)

    def draw(self, node: int, law: torch.Tensor) -> int:
        """By inverse CDF: token x owns the stretch [F(x) − P(x), F(x)) of the cumulative law F."""
        tree = self.case.tree
        position = self.case.position + tree.depth(node)
        refused = any(tree.parents[decision.node] == node for decision in self.decisions)
        coin = self.case.coins.residual(position) if refused else self.case.coins.position(position)
        cumulative = law.cumsum(-1)
        mass = float(cumulative[-1])
        token = int(torch.searchsorted(cumulative, coin * mass, right=True))

        def stretch(token: int) -> tuple[float, float]:
            prob = float(law[token]) / mass
            return max(0.0, float(cumulative[token]) / mass - prob), prob

        self.draws[node] = Draw(coin, *stretch(token))
        # A point-mass child x is tested by the coin measured from the start of x's stretch, modulo 1: again uniform,
        # and below P(x) exactly when the draw is x. So its fate can be checked from two numbers.
        for child in tree.children().get(node, []):
            if tree.laws[child] == "point":
                start, p = stretch(tree.tokens[child])
                decision = Decision(child, weight=1.0, p=p, q=1.0, mass=1.0 - p, threshold=p, coin=(coin - start) % 1.0)
                self.decisions.append(decision)
        return token


def _held(comparison: Comparison, tokens: Iterable[int]) -> tuple[Held, ...]:
    """The shares of `tokens`, and of those that weigh most in P and in Q."""
    p, q, residual = comparison.p, comparison.q, comparison.residual(otherwise=comparison.p)
    most = [zip(*(column.tolist() for column in law.topk(min(HELD, len(law)))), strict=True) for law in (p, q)]
    weighty = [token for law in most for share, token in law if share]  # none is an id without a text
    kept = list(dict.fromkeys([*tokens, *weighty]))
    at = torch.tensor(kept, device=p.device)
    columns = (p[at].tolist(), q[at].tolist(), residual[at].tolist())
    return tuple(map(Held, kept, *columns))


def _fates(tree: DraftTree, path: Sequence[int], tested: Container[int]) -> tuple[Fate, ...]:
    return tuple(
        "accepted" if node in path else "rejected" if node in tested else "ignored" for node in range(len(tree))
    )


def _widened(law: torch.Tensor, width: int) -> torch.Tensor:
    """A draft model's law over the target's `width` tokens, of which it may lack the last ones."""
    if len(law) > width:
        raise ValueError(f"a draft's law has {len(law)} tokens, the target only {width}")
    return F.pad(law, (0, width - len(law)))


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
    return replace(verdict, path=verdict.path[: len(committed)], tree=ended, draw=None), committed
