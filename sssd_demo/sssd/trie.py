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

    def child(self, token: int) -> TrieNode | None:
        """The run that goes on with `token`, if it was seen."""
        return (self.children() if self._unspelt else self._children).get(token)

    def extended(self, token: int, source: Source) -> TrieNode:
        """The run that goes on with `token`, which has just been seen once more."""
        children = self.children()
        child = children.get(token)
        if child is None:
            child = children[token] = TrieNode(token, source)
        else:
            child.count += 1
        return child

    def best_children(self, cap: int) -> Sequence[TrieNode]:
        """The `cap` most frequent next tokens; equally frequent ones in the order in which they were first seen."""
        children = list((self.children() if self._unspelt else self._children).values())
        if len(children) > 1:
            children.sort(key=_BY_COUNT, reverse=True)
        return children[:cap]


class PromptTrie:
    """Counts of every run of at most `window` tokens in one conversation.

    A window starts at every position. Without `lag`, every token is known as soon as it is written. With it, windows
    are entered as the authors of arXiv 2411.05894 do: in the prompt cut at the prompt's end; in the answer once they
    are full, so the newest `window - 1` tokens are not known yet; and no window holds both prompt and answer.

    A node's source is where the last token of its run was seen first. Entering costs at most `window` steps a token,
    whatever the text repeats; a step adds 1 to one node's count.
    """

    def __init__(self, prompt: Sequence[int], window: int, *, lag: bool) -> None:
        self.root = TrieNode(token=-1, source="prompt")
        self._window = window
        self._lag = lag
        self._next_start = self._known = len(prompt)
        for start in range(len(prompt)):
            self._enter(tuple(prompt[start : start + window]), "prompt")
        # The ends of the windows that the next token still belongs to, longest first.
        self._unfinished = [] if lag else [self._end(prompt[start:]) for start in self._starts(len(prompt))]

    def update(self, tokens: Sequence[int]) -> None:
        """Enter what is new; `tokens` is the whole conversation, grown since the last call."""
        if self._lag:
            self._enter_full_windows(tokens)
        else:
            for token in tokens[self._known :]:
                self._extend_windows(token)
            self._known = len(tokens)

    def _starts(self, length: int) -> range:
        """Where the windows started that one more token after `length` ones still belongs to."""
        return range(max(0, length - self._window + 1), length)

    def _end(self, run: Sequence[int]) -> TrieNode:
        node = self.root
        for token in run:
            node = node.children()[token]
        return node

    def _extend_windows(self, token: int) -> None:
        ends = [node.extended(token, "output") for node in (*self._unfinished, self.root)]
        self._unfinished = ends[-(self._window - 1) :] if self._window > 1 else []

    def _enter_full_windows(self, tokens: Sequence[int]) -> None:
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
