"""What followed the last tokens wherever they stand in past text, as a trie that grows where it is looked at.

Of the hundred continuations that are sampled a round, a draft uses few; so a node holds the samples that run
through it, and sorts them by their next token only when asked for its children.
"""

from __future__ import annotations

from collections.abc import Sequence

from sssd_demo.sssd.constants import Settings
from sssd_demo.sssd.datastore import sample
from sssd_demo.sssd.sub_index import SubIndex
from sssd_demo.trace import Source

Sample = tuple[int, list[int]]  # (tokens that matched, what followed)


class SampledNode:
    """The samples whose continuations start with the tokens on the way from the root; longest matches first."""

    __slots__ = ("_children", "_depth", "_samples", "count", "match_length", "token")

    source: Source = "datastore"

    def __init__(self, token: int, depth: int, samples: list[Sample]) -> None:
        self.token = token
        self.count = len(samples)
        self.match_length = samples[0][0]
        self._depth = depth
        self._samples = samples
        self._children: dict[int, SampledNode] | None = None

    def by_match_length(self) -> list[SampledNode]:
        """A node for each length that matched, with its samples only; the shortest match first."""
        by_length: dict[int, list[Sample]] = {}
        for sample_ in self._samples:
            by_length.setdefault(sample_[0], []).append(sample_)
        return [SampledNode(self.token, self._depth, by_length[length]) for length in sorted(by_length)]

    def best_children(self, cap: int) -> Sequence[SampledNode]:
        """The `cap` most frequent next tokens; equally frequent ones in the order of their first sample."""
        return list(self.children().values())[:cap]

    def child(self, token: int) -> SampledNode | None:
        """The samples that go on with `token`, if there are any."""
        return self.children().get(token)

    def children(self) -> dict[int, SampledNode]:
        """What follows, by token, the most frequent first."""
        if self._children is None:
            self._children = self._sorted_by_next_token()
        return self._children

    def _sorted_by_next_token(self) -> dict[int, SampledNode]:
        depth = self._depth
        by_token: dict[int, list[Sample]] = {}
        for sample_ in self._samples:
            continuation = sample_[1]
            if len(continuation) > depth:
                token = continuation[depth]
                if token in by_token:
                    by_token[token].append(sample_)
                else:
                    by_token[token] = [sample_]
        groups = list(by_token.items())
        if len(groups) > 1 and self.count > len(groups):  # else all are equally frequent
            groups.sort(key=_by_samples, reverse=True)
        return {token: SampledNode(token, depth + 1, samples) for token, samples in groups}


def _by_samples(group: tuple[int, list[Sample]]) -> int:
    return len(group[1])


def look_up(sub_indices: Sequence[SubIndex], tokens: Sequence[int], s_q: int, settings: Settings) -> SampledNode | None:
    """The root of what followed the end of `tokens` in past text; None if nothing did.

    Starts with the longest match and drops the oldest token while there are too few samples (arXiv 2411.05894);
    occurrences found again at a shorter length count again.
    """
    samples: list[Sample] = []
    for length in range(min(settings.longest_match, len(tokens)), 0, -1):
        found = sample(sub_indices, tokens[-length:], settings.samples, settings.branch_length(s_q))
        samples += [(length, continuation) for continuation in found]
        if len(samples) >= settings.enough_samples:
            break
    return SampledNode(token=-1, depth=0, samples=samples) if samples else None
