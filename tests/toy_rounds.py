"""Sampled rounds in a language of a dozen words, judged by the production code: for tests that need no model.

What word may follow depends on the last one alone. The draft model knows roughly the same language, with worse odds.
"""

from __future__ import annotations

import random
from dataclasses import replace

import torch

from sssd_demo.coins import Coins
from sssd_demo.rules import without
from sssd_demo.sampled_tree import SampledTree
from sssd_demo.sampling import Sampling
from sssd_demo.trace import ROOT, AcceptanceRule, DraftTree, Law, Round, Source, Trace
from sssd_demo.verify import Case, cut, verify

FOLLOWING = {
    " The": {" cat": 5, " dog": 3, " mat": 1},
    " cat": {" sat": 6, " lay": 2, ".": 1},
    " dog": {" sat": 2, " lay": 6, ".": 1},
    " sat": {" on": 7, " under": 2, ".": 1},
    " lay": {" on": 4, " under": 5, ".": 1},
    " on": {" the": 8, " a": 2},
    " under": {" the": 6, " a": 4},
    " the": {" mat": 6, " rug": 3, " cat": 1, " dog": 1},
    " a": {" mat": 3, " rug": 6},
    " mat": {".": 9, " and": 1},
    " rug": {".": 9, " and": 1},
    ".": {" The": 9, "\n": 1},
    "\n": {" The": 9},
    " and": {" the": 5, " a": 5},
}
WORDS = list(FOLLOWING)
END = WORDS.index("\n")

CHAIN = (ROOT, 0, 1, 2)
BUSH = (ROOT, ROOT, 0, 0, 1, 2)  # two after the root, two after the first of them, and so on
DRAFT_TEMPERATURE = 2.0


def target_law(last: int) -> torch.Tensor:
    """The target's law [V] after a word."""
    weights = torch.full((len(WORDS),), 0.05, dtype=torch.float64)
    for word, weight in FOLLOWING[WORDS[last]].items():
        weights[WORDS.index(word)] += weight
    return weights / weights.sum()


def draft_law(last: int) -> torch.Tensor:
    """The draft model's law [V] after a word: flatter, and fond of the words that come early in the list."""
    weights = target_law(last) ** (1 / DRAFT_TEMPERATURE) * torch.linspace(1.6, 0.4, len(WORDS), dtype=torch.float64)
    return weights / weights.sum()


def drafted(parents: tuple[int, ...], laws: tuple[Law, ...], root: int, seed: int) -> DraftTree:
    """A tree of this shape; nodes of law "point" are looked up, all others sampled from `draft_law`."""
    dice = random.Random(seed)
    tokens: list[int] = []
    probs: list[float] = []
    q: dict[int, torch.Tensor] = {}
    left: dict[int, torch.Tensor] = {}
    for node, (parent, law) in enumerate(zip(parents, laws, strict=True)):
        above = root if parent == ROOT else tokens[parent]
        if law == "point":
            taken = {tokens[each] for each in range(node) if parents[each] == parent and laws[each] == "point"}
            best = target_law(above).topk(len(taken) + 1).indices.tolist()
            tokens.append(next(token for token in best if token not in taken))
            probs.append(0.5)
            continue
        q.setdefault(1 + parent, draft_law(above))
        drawn_from = left.get(parent, q[1 + parent])
        (token,) = dice.choices(range(len(WORDS)), drawn_from.tolist())
        tokens.append(token)
        probs.append(float(drawn_from[token]))
        left[parent] = without(drawn_from, token) if law == "distinct" else drawn_from
    sources: tuple[Source, ...] = tuple("prompt" if law == "point" else "model" for law in laws)
    tree = DraftTree(tuple(tokens), parents, tuple(probs), laws, sources, (0,) * len(tokens))
    return SampledTree.of(tree, q) if q else tree


def toy_round(
    seed: int,
    *,
    rule: AcceptanceRule = "chain",
    parents: tuple[int, ...] = CHAIN,
    laws: tuple[Law, ...] = ("sampled",) * 4,
    temperature: float = 1.0,
    root: int = 0,
    index: int = 1,
    position: int = 5,
    limit: int = 99,
) -> Round:
    """One round after the word `root`, by `verify`; it ends after `limit` tokens."""
    tree = drafted(parents, laws, root, seed)
    rows = torch.stack([target_law(token).log() for token in (root, *tree.tokens)])
    case = Case(tree, Sampling(temperature=temperature, seed=seed), position, Coins(seed), rule)
    (verdict,) = verify([case], rows[None])
    verdict, committed = cut(verdict, limit, frozenset())
    return Round(
        index=index, batch_size=1, s_q=1 + len(tree), start_ms=20.0 * index, draft_ms=3.0, verify_ms=17.0,
        tree=verdict.tree, bonus=verdict.bonus, bonus_prob=verdict.bonus_prob, committed=committed, rule=verdict.rule,
        decisions=verdict.decisions, draw=verdict.draw,
    )  # fmt: skip


def toy_trace(
    rule: AcceptanceRule = "chain",
    *,
    parents: tuple[int, ...] = CHAIN,
    laws: tuple[Law, ...] = ("sampled",) * 4,
    temperature: float = 1.0,
    seed: int = 0,
    tokens: int = 30,
) -> Trace:
    """An answer of at least so many tokens to "Say something", with a prefill round at its beginning."""
    first = toy_round(seed, parents=(), laws=(), temperature=temperature)
    rounds = [replace(first, index=0, start_ms=0.0)]
    answer = list(first.committed)
    while len(answer) < tokens:
        made = toy_round(
            seed, rule=rule, parents=parents, laws=laws, temperature=temperature,
            root=answer[-1], index=len(rounds), position=5 + len(answer),
        )  # fmt: skip
        rounds.append(made)
        answer.extend(made.committed)
    return Trace(
        created="2025-11-29T16:20:00+00:00",
        device="test bench, 2 threads",
        dtype="float32",
        preset="toy",
        method="speculative",
        settings={"temperature": temperature, "rule": rule},
        messages=({"role": "user", "content": "Say something"},),
        prompt=(0,),
        token_bytes={token: word.encode() for token, word in enumerate(WORDS)},
        rounds=tuple(rounds),
        finish_reason="length",
    )
