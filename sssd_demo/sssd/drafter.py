"""SSSD for one sequence: its own trie, the stores it may draw from, one draft tree a round."""

from __future__ import annotations

from collections.abc import Sequence

from sssd_demo.sssd.constants import Settings
from sssd_demo.sssd.datastore import Datastore
from sssd_demo.sssd.merge import Seed, merge
from sssd_demo.sssd.sampled import look_up
from sssd_demo.sssd.trie import PromptTrie
from sssd_demo.trace import EMPTY_TREE, DraftTree


class Drafter:
    """Knows one conversation; shares nothing but the stores, which it only reads."""

    def __init__(self, prompt: Sequence[int], stores: Sequence[Datastore], settings: Settings) -> None:
        self._trie = PromptTrie(prompt, settings.window)
        self._sub_indices = [sub_index for store in stores for sub_index in store.sub_indices]
        self._settings = settings

    def update(self, tokens: Sequence[int]) -> None:
        """Learn what was written since the last call; `tokens` is the whole conversation so far."""
        self._trie.update(tokens)

    def draft(self, tokens: Sequence[int], s_q: int) -> DraftTree:
        """At most `s_q` - 1 candidates for what follows `tokens`, the whole conversation so far."""
        if s_q <= 1:
            return EMPTY_TREE
        settings = self._settings
        recent = tokens[-settings.longest_match :]
        cap = settings.children_cap(s_q)
        seeds = [
            Seed(node, settings.prompt_weight, settings.decay(length), first_cap=cap, match_length=length)
            for length, node in self._trie.matches(recent, settings.longest_match)
        ]
        sampled = look_up(self._sub_indices, recent, s_q, settings)
        if sampled is not None:
            # The first tokens have no cap of their own; more than the budget could not be attached anyway.
            seeds.append(Seed(sampled, settings.datastore_weight, decay=1.0, first_cap=s_q - 1))
        return merge(seeds, s_q, cap)
