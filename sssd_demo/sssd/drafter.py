"""SSSD for one sequence: its own trie and memory, the stores it may draw from, one draft tree a round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sssd_demo.sssd.blend import Evidence, blend
from sssd_demo.sssd.constants import Settings
from sssd_demo.sssd.merge import Seed, merge
from sssd_demo.sssd.recycled import Recycled
from sssd_demo.sssd.sampled import SampledNode, look_up
from sssd_demo.sssd.sub_index import SubIndex
from sssd_demo.sssd.trie import PromptTrie, TrieNode
from sssd_demo.sssd.trust import Trust
from sssd_demo.trace import EMPTY_TREE, DraftTree, Top


class Store(Protocol):
    """Past text that may have grown since the last draft."""

    @property
    def sub_indices(self) -> tuple[SubIndex, ...]: ...
    def recalled(self, tokens: tuple[int, ...]) -> Top | None:
        """What the target held likely after these one or two tokens, if that was kept."""


class Drafter:
    """Knows one conversation; shares nothing but the stores, which it only reads."""

    def __init__(self, prompt: Sequence[int], stores: Sequence[Store], settings: Settings) -> None:
        self._trie = PromptTrie(prompt, settings.window, lag=settings.lag)
        self._recycled = Recycled()
        self._stores = stores
        self._settings = settings
        self._trust = Trust() if settings.online_trust else None
        self._known = len(prompt)

    def update(self, tokens: Sequence[int], top: Sequence[Top] = ()) -> None:
        """Learn what was written since the last call; `tokens` is the whole conversation so far.

        `top` is what the target held likely at the places of the last tokens, one entry each.
        """
        if self._settings.prompt_weight:
            self._trie.update(tokens)
            self._recycled.learn(tokens, top)
        if self._trust:
            self._trust.learn(tokens[self._known :])
        self._known = len(tokens)

    def verified(self, before: Sequence[int], tree: DraftTree, top: Sequence[Top]) -> None:
        """Learn what the target held likely after the tokens `before` (`top[0]`) and after each node of `tree`.

        Rejected nodes teach as well as accepted ones. Not for trees that were drawn: what is drafted next must not
        depend on draws that were thrown away, which later draws may repeat.
        """
        if self._settings.prompt_weight:
            self._recycled.learn_tree(before, tree, top)

    def draft(self, tokens: Sequence[int], s_q: int) -> DraftTree:
        """At most `s_q` - 1 candidates for what follows `tokens`, the whole conversation so far."""
        if s_q <= 1 or not tokens:
            return EMPTY_TREE
        settings = self._settings
        recent = tokens[-settings.longest_match :]
        matches = list(self._trie.matches(recent, settings.longest_match)) if settings.prompt_weight else []
        sub_indices = [sub_index for store in self._stores for sub_index in store.sub_indices]
        sampled = look_up(sub_indices, recent, s_q, settings) if settings.datastore_weight else None
        if settings.combine == "larger":
            return merge(self._seeds(matches, sampled, s_q), s_q, settings.children_cap(s_q))
        evidence = self._evidence(matches, sampled)
        tree = blend(evidence, self._recall, tuple(recent[-2:]), s_q, settings, self._trust)
        if self._trust:
            self._trust.drafted(tree)
        return tree

    def _recall(self, tokens: tuple[int, ...]) -> Top | None:
        """This conversation's own memory comes before that of other texts."""
        found = self._recycled.after(tokens)
        for store in self._stores if self._settings.datastore_weight else ():
            if found is not None:
                break
            found = store.recalled(tokens)
        return found

    def _seeds(self, matches: Sequence[tuple[int, TrieNode]], sampled: SampledNode | None, s_q: int) -> Sequence[Seed]:
        settings = self._settings
        cap = settings.children_cap(s_q)
        seeds = [
            Seed(node, settings.prompt_weight, settings.decay(length), first_cap=cap, match_length=length)
            for length, node in matches
        ]
        if sampled is not None:
            # The first tokens have no cap of their own; more than the budget could not be attached anyway.
            shorter = settings.longest_match - sampled.match_length
            weight = settings.datastore_weight * (1 - settings.short_match_discount * shorter)
            seeds.append(Seed(sampled, weight, decay=1.0, first_cap=s_q - 1))
        return seeds

    def _evidence(self, matches: Sequence[tuple[int, TrieNode]], sampled: SampledNode | None) -> Sequence[Evidence]:
        """Least trusted first: other texts, then this conversation, shorter matches before longer ones."""
        settings = self._settings
        levels = sampled.by_match_length() if sampled is not None else []
        evidence = [Evidence(node, node.match_length, settings.doubt(node.match_length)) for node in levels]
        went_on = [(length, node) for length, node in matches if node.children()]  # not the text's very end
        if settings.combine == "noisy-or":  # shorter matches are no further witnesses: they saw the same
            evidence, went_on = evidence[-1:], went_on[:1]
        evidence += [Evidence(node, length, settings.prompt_doubt) for length, node in reversed(went_on)]
        return evidence
