"""Seeded bugs of drafting ahead, put into the real parts. Each must fail the counts, and one that only looks wrong must
not: a draft is right whatever it was prepared for, as long as its tokens were drawn by the q that it reports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

import torch

from sssd_demo import verify
from sssd_demo.coins import Coins
from sssd_demo.saguaro import pre_drafter
from sssd_demo.saguaro.bent_law import bent
from sssd_demo.saguaro.messages import Drafted
from sssd_demo.saguaro.mixed_tree import mixed
from sssd_demo.saguaro.pre_drafter import _Branch
from sssd_demo.saguaro.speculation_cache import SpeculationCache, model_chain
from sssd_demo.sampled_tree import SampledTree
from sssd_demo.speculators import saguaro
from sssd_demo.speculators.draft_model import drawn
from sssd_demo.speculators.saguaro import Saguaro, _Answer, _Choice
from sssd_demo.trace import ROOT, DraftTree
from tests.proofs.wrong_rules import candidates_before_the_sampled

UNLIKELY = 0.4


@dataclass(frozen=True)
class OverlapBug:
    """`way` is the name of the way of drafting that it is put into; so many answers show it, as a rule."""

    name: str
    way: str
    put_in: Callable[[], AbstractContextManager[Any]]
    answers: int = 300


def verified_by_the_unbent_law() -> AbstractContextManager[Any]:
    def sample(branch: _Branch, law: torch.Tensor) -> None:
        place = len(branch.tokens)
        token = drawn(bent(law, branch.bending, place), branch.coin(place))
        branch.q[place] = law
        branch.add(token, float(law[token]))

    return patch.object(_Branch, "sample", sample)


def anothers_tokens_with_this_outcomes_q() -> AbstractContextManager[Any]:
    return _looking_up(_as_if_drawn_here)


def anothers_draft_with_its_own_q() -> AbstractContextManager[Any]:
    """No bug in law: the draft was drawn from what it reports, and is only less likely to be accepted."""
    return _looking_up(lambda here, other: other)


def _looking_up(taken: Callable[[DraftTree, DraftTree], DraftTree]) -> AbstractContextManager[Any]:
    """On a hit the cache finds what was prepared for the next best bonus."""
    honest = SpeculationCache.look_up

    def look_up(cache: SpeculationCache, path: Sequence[int], bonus: int) -> DraftTree | None:
        found = honest(cache, path, bonus)
        node = path[-1] if path else ROOT
        others = [draft for key, draft in cache.drafts.items() if key[0] == node and key != (node, bonus)]
        return found if found is None or not others else taken(found, others[0])

    return patch.object(SpeculationCache, "look_up", look_up)


def _as_if_drawn_here(here: DraftTree, other: DraftTree) -> DraftTree:
    if not isinstance(here, SampledTree):  # there was no room for a draft
        return here
    count = min(len(here), len(other))
    possible = all(float(here.q[place][other.tokens[place]]) for place in range(count))
    return SampledTree.of(replace(_only(here, count), tokens=other.tokens[:count]), here.q) if possible else here


def drafted_by_the_coins_that_test() -> AbstractContextManager[Any]:
    """As if draft and target had generators of the same seed."""

    def branch_coin(seed: int, root_position: int, node: int, bonus: int, place: int) -> float:
        return Coins(seed).accept(root_position + node + 2, place)  # where the next round begins, after a chain

    def draft_coin(seed: int, root_position: int, node: int) -> float:
        return Coins(seed).accept(root_position, node)

    return patch.multiple(pre_drafter, branch_coin=branch_coin, draft_coin=draft_coin)


def candidates_first() -> AbstractContextManager[Any]:
    return patch.dict(verify._RULES, dict.fromkeys(verify._RULES, candidates_before_the_sampled))


def backup_where_the_draft_looks_unlikely() -> AbstractContextManager[Any]:
    honest = Saguaro._choice

    def choice(self: Saguaro, answer: _Answer, drafted: Drafted | None, backup: DraftTree, batch: int) -> _Choice:
        if drafted is not None and len(drafted.tree) and drafted.tree.probs[0] < UNLIKELY:
            ngrams = answer.ngrams.draft(answer.sequence.tokens, answer.most + 1)
            if len(ngrams):
                return _Choice(ngrams, "backup")
        return honest(self, answer, drafted, backup, batch)

    return patch.object(Saguaro, "_choice", choice)


@contextmanager
def the_last_draft_once_more() -> Iterator[None]:
    """On a miss the draft is served that was served last: the text shows by now what it holds."""
    honest = Saguaro._choice
    last: dict[int, Drafted] = {}

    def choice(self: Saguaro, answer: _Answer, drafted: Drafted | None, backup: DraftTree, batch: int) -> _Choice:
        id_ = answer.sequence.id
        if drafted is not None and (drafted.hit or id_ not in last):
            last[id_] = drafted
        elif id_ in last:
            drafted = last[id_]
        return honest(self, answer, drafted, backup, batch)

    with patch.object(Saguaro, "_choice", choice):
        yield


def unlikely_tokens_dropped() -> AbstractContextManager[Any]:
    def smaller(chain: DraftTree, candidates: DraftTree, most: int) -> DraftTree:
        if not isinstance(chain, SampledTree):
            return mixed(chain, candidates, most)
        count = next((at for at, prob in enumerate(chain.probs) if prob < UNLIKELY), len(chain))
        if not count:
            return candidates.first(most)
        kept: Mapping[int, torch.Tensor] = {row: law for row, law in chain.q.items() if row < count}
        return mixed(SampledTree.of(_only(chain, count), kept), candidates, most)

    return patch.object(saguaro, "mixed", smaller)


def _only(chain: DraftTree, count: int) -> DraftTree:
    return model_chain(chain.tokens[:count], chain.probs[:count], "sampled")


BUGS = [
    OverlapBug("drawn from a bent law, verified by the unbent one", "weight 0, block", verified_by_the_unbent_law),
    OverlapBug("another outcome's tokens with this q", "cooler draft, sized", anothers_tokens_with_this_outcomes_q),
    OverlapBug("drafted by the coins that test", "chain", drafted_by_the_coins_that_test),
    OverlapBug("candidates tested before the sampled token", "mixed", candidates_first, 1200),
    OverlapBug("n-grams where the draft looks unlikely", "chain", backup_where_the_draft_looks_unlikely),
    OverlapBug("the last draft served once more", "nearest, n-grams on a miss", the_last_draft_once_more),
    OverlapBug("a sampled token dropped as unlikely", "mixed", unlikely_tokens_dropped),
]  # fmt: skip
HARMLESS = OverlapBug("another outcome's draft with its own q", "cooler draft, sized", anothers_draft_with_its_own_q)
