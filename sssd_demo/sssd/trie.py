"""What this conversation said after the tokens that it just said: a count trie over prompt and answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter

from sssd_demo.trace import Source

_BY_COUNT = attrgetter("count")


class TrieNode:
    """One run of tokens, spelt by the way from the root, and how often it was seen.

    Most runs are seen once. What followed such a run is kept as a tuple and becomes nodes when somebody looks.
    """

    __slots__ = ("_children", "_unspelt", "count", "source", "token")

    match_length = 0  # known to the seed that the node was reached from: one node ends matches of several lengths

    def __init__(self, token: int, source: Source, unspelt: tuple[int, ...] = ()) -> None:
        self.token = token
        self.source = source  # where the run was seen first
        self.count = 1
        self._children: dict[int, TrieNode] = {}
        self._unspelt = unspelt

    def children(self) -> dict[int, TrieNode]:
        """The runs that are one token longer, by that token, in the order in which they were first seen."""
        if self._unspelt:
            token, *rest = self._unspelt
            self._children[token] = TrieNode(token, self.source, tuple(rest))
            self._unspelt = ()
        return self._children

    def best_children(self, cap: int) -> Sequence[TrieNode]:
        """The `cap` most frequent next tokens; equally frequent ones in the order in which they were first seen."""
        children = list(self.children().values())
        if len(children) > 1:
            children.sort(key=_BY_COUNT, reverse=True)
        return children[:cap]


class PromptTrie:
    """Counts of every run of at most `window` tokens in one conversation.

    A window starts at every position: in the prompt it is cut at the prompt's end; in the answer it is entered once
    it is full, so the newest `window - 1` tokens are not known yet (authors of arXiv 2411.05894). No window holds
    both prompt and answer, so a node's source is exact. Entering costs at most `window` steps a token, whatever
    the text repeats; a step adds 1 to one node's count.
    """

    def __init__(self, prompt: Sequence[int], window: int) -> None:
        self.root = TrieNode(token=-1, source="prompt")
        self._window = window
        self._next_start = len(prompt)
        for start in range(len(prompt)):
            self._enter(tuple(prompt[start : start + window]), "prompt")

    def update(self, tokens: Sequence[int]) -> None:
        """Enter the windows that are now complete; `tokens` is the whole conversation, grown since the last call."""
        while self._next_start + self._window <= len(tokens):
            self._enter(tuple(tokens[self._next_start : self._next_start + self._window]), "output")
            self._next_start += 1

    def matches(self, tokens: Sequence[int], longest: int) -> Iterator[tuple[int, TrieNode]]:
        """(m, node of the last m tokens) for every m = `longest`…1 that was seen before."""
        for length in range(min(longest, len(tokens)), 0, -1):
            node: TrieNode | None = self.root
            for token in tokens[-length:]:
                node = node.children().get(token) if node else None
            if node is not None:
                yield length, node

    def _enter(self, run: tuple[int, ...], source: Source) -> None:
        node = self.root
        for depth, token in enumerate(run, 1):
            children = node.children()
            child = children.get(token)
            if child is None:
                children[token] = TrieNode(token, source, run[depth:])
                return
            child.count += 1
            node = child
