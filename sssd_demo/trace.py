"""What happened in one answer, as frozen data: the one vocabulary of engine, views and files.

A `Trace` is a list of `Round`s; a round is one forward pass of the target for one sequence. Views are pure
functions of a trace, so a live run, a replayed file and a test fixture look the same on screen.

This module knows nothing about models or screens. Reading and writing files is in `trace_file.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

# How a node's token came about: chosen without chance ("point"), or drawn from a law q, its siblings from the same q
# ("sampled") or from what their earlier siblings had left of it ("distinct").
Law = Literal["point", "sampled", "distinct"]
Fate = Literal["accepted", "rejected", "ignored"]
Source = Literal["prompt", "output", "datastore", "recycled", "model", "jacobi"]
FinishReason = Literal["end_of_text", "length", "cancelled"]
Worker = Literal["target", "drafter"]
# lookup: of an outcome in the speculation cache; redraft: after a miss; glue: the forward over what the target is
# verifying; branch: one token for each prepared outcome; wait: the target's, for the drafter; backup: n-grams.
Work = Literal["lookup", "redraft", "glue", "branch", "wait", "backup"]
Fallback = Literal["immediate", "batched", "backup", "nearest", "nothing"]
# first: nothing can have been prepared yet; late: the drafter had not answered in time; rolled back: after too many
# misses nothing is prepared for a while; no drafter: it has died or is still starting.
MissReason = Literal["first", "miss", "late", "rolled back", "no drafter"]
AcceptanceRule = Literal["chain", "block", "tree", "traversal"]  # see `rules.py`

ROOT = -1  # the parent index of a tree's first tokens: the last committed token, which is not a node itself


@dataclass(frozen=True)
class DraftTree:
    """Candidate continuations of one sequence. All tuples have one entry per node, n nodes in all.

    The root (the last committed token) is not a node: its children have parent `ROOT`. Parents come before
    their children. A chain is a tree without branches; the empty tree is plain autoregressive decoding.
    """

    tokens: tuple[int, ...] = ()
    parents: tuple[int, ...] = ()
    probs: tuple[float, ...] = ()  # the drafter's score, or q(x) where the token was drawn
    laws: tuple[Law, ...] = ()
    sources: tuple[Source, ...] = ()
    match_lengths: tuple[int, ...] = ()  # tokens of context that matched; 0 where there was no lookup

    def __len__(self) -> int:
        return len(self.tokens)

    def depths(self) -> list[int]:
        """The depth of each node; children of the root have depth 1."""
        depths: list[int] = []
        for parent in self.parents:
            depths.append(1 if parent == ROOT else depths[parent] + 1)
        return depths

    def depth(self, node: int) -> int:
        """The depth of one node; 0 for `ROOT`."""
        return len(self.path_to(node))

    def is_chain(self) -> bool:
        """Whether every node has the one before it as its parent; true of the empty tree."""
        return self.parents == tuple(range(ROOT, len(self) - 1))

    def children(self) -> dict[int, list[int]]:
        """Node index (or `ROOT`) → indices of its children, in tree order."""
        found: dict[int, list[int]] = {}
        for node, parent in enumerate(self.parents):
            found.setdefault(parent, []).append(node)
        return found

    def first(self, count: int) -> DraftTree:
        """The tree of the first `count` nodes; it is whole, since parents come before children."""
        if count >= len(self):
            return self
        return DraftTree(*(getattr(self, name)[:count] for name in DraftTree.__dataclass_fields__))

    def path_to(self, node: int) -> list[int]:
        """The nodes from a child of the root down to `node`, both included; empty for `ROOT`."""
        path = []
        while node != ROOT:
            path.append(node)
            node = self.parents[node]
        return path[::-1]


EMPTY_TREE = DraftTree()


@dataclass(frozen=True)
class Top:
    """The target's most probable next tokens at one position, best first, with their probabilities at temperature 1."""

    tokens: tuple[int, ...]
    probs: tuple[float, ...]


@dataclass(frozen=True)
class VerifiedTree(DraftTree):
    """A draft tree after verification.

    `target_probs` is p(x), the target's probability of each node's token after its parent, with temperature,
    top-k and top-p applied. In greedy decoding p is one-hot and would say nothing, so the probability at
    temperature 1 is kept; the decision was its argmax.

    `coins` holds the u in [0, 1) that was compared, or None where none was (greedy, or a node never tested).
    A point-mass node was accepted iff u < p(x), a drawn one by its `Decision`. See `verify.py` for how u is made.
    """

    target_probs: tuple[float, ...] = ()
    coins: tuple[float | None, ...] = ()
    fates: tuple[Fate, ...] = ()

    @classmethod
    def of(
        cls,
        tree: DraftTree,
        *,
        target_probs: tuple[float, ...],
        coins: tuple[float | None, ...],
        fates: tuple[Fate, ...],
    ) -> VerifiedTree:
        """`tree` with what verification found out about each node."""
        columns = {name: getattr(tree, name) for name in DraftTree.__dataclass_fields__}
        return cls(**columns, target_probs=target_probs, coins=coins, fates=fates)

    def only(self, nodes: Sequence[int]) -> VerifiedTree:
        """The tree of `nodes`, in rising order and with the parent of each among them."""
        places = {node: place for place, node in enumerate(nodes)} | {ROOT: ROOT}
        columns = {name: tuple(getattr(self, name)[node] for node in nodes) for name in self.__dataclass_fields__}
        return VerifiedTree(**columns | {"parents": tuple(places[self.parents[node]] for node in nodes)})

    def accepted_path(self) -> list[int]:
        """Indices of the accepted nodes, in order of depth."""
        return [node for node, fate in enumerate(self.fates) if fate == "accepted"]


EMPTY_VERIFIED_TREE = VerifiedTree()


@dataclass(frozen=True)
class Span:
    """One stretch of work on the shared monotonic clock, for timelines."""

    who: Worker
    what: Work
    start_ms: float
    end_ms: float
    tokens: int = 0  # of a sequence's forward, the most in the batch; 0 where the work was no forward


@dataclass(frozen=True)
class SaguaroRound:
    """How this round's draft came about after the round before (methods of the Saguaro family only).

    While the target verified the last draft, the drafter prepared the next for some of the outcomes it could have. The
    `outcome` that came true was looked up among them.
    """

    outcome: tuple[int, int]  # (number accepted, bonus token) of the round before
    keys: tuple[tuple[int, int], ...]  # the outcomes that had been prepared, by number accepted, then most likely first
    hit: bool
    fallback: Fallback | None  # what was served instead; None on a hit
    spans: tuple[Span, ...] = ()  # work since the last round's forward began, up to this one's, for the whole batch
    why: MissReason | None = None  # None on a hit
    rank: int | None = None  # place of the bonus among the drafter's guesses there, from 1; None if it made none


@dataclass(frozen=True)
class Held:
    """One token of a vocabulary in a comparison of two laws: P(token), Q(token) and norm([weight · P − Q]+)(token)."""

    token: int
    p: float
    q: float
    residual: float


@dataclass(frozen=True)
class Decision:
    """One decision of a sampled verification with the numbers it rested on: accepted iff `coin` < `threshold`.

    P is what was left of the target's law at the node's parent, Q the law the node's token x was drawn from, both as
    they were when x was looked at; `rechecked.py` finds the threshold again from these numbers.
    """

    node: int
    weight: float  # block and traversal: how likely the way to the parent is by p, as a share of q; else 1
    p: float  # P(x)
    q: float  # Q(x); 1 for a point mass
    mass: float  # Σ [weight · P − Q]+, the share that a refusal leaves
    threshold: float  # at most 1
    coin: float
    held: tuple[Held, ...] = ()  # x, its siblings, the bonus after a refusal, and what weighs most in P or Q


@dataclass(frozen=True)
class Draw:
    """How the bonus was drawn: it owns the stretch [start, start + prob) of the law's cumulative sum, and held `coin`.

    The law is p, or the residual of p where sampled drafts were refused.
    """

    coin: float
    start: float
    prob: float


@dataclass(frozen=True)
class Round:
    """One target forward for one sequence: what was drafted, what became of it, what was appended.

    Round 0 is the prefill: an empty tree, and the first token as its bonus. Times are milliseconds on the
    engine's monotonic clock; in a batch they are those of the whole batch's round.
    """

    index: int
    batch_size: int  # sequences that shared this forward
    s_q: int  # most tokens the target was allowed to process for this sequence, root included
    start_ms: float
    draft_ms: float
    verify_ms: float  # target forward, acceptance and keeping the accepted path
    tree: VerifiedTree
    bonus: int
    bonus_prob: float
    committed: tuple[int, ...]  # accepted path + bonus, cut at end-of-text or the limit
    saguaro: SaguaroRound | None = None
    withheld: int = 0  # nodes of the tree that are not shown, since their text is not the visitor's to see
    top: tuple[Top, ...] = ()  # one for each committed token, where the request asked for it; not kept in trace files
    scratch: int = 0  # tokens that the target computed beside the tree and that were not to be tested
    rule: AcceptanceRule = "tree"
    decisions: tuple[Decision, ...] = ()  # in the order in which they were made, where a draft was sampled
    draw: Draw | None = None  # None in greedy decoding, and where the answer ended before the bonus

    def withholding(self, source: Source) -> Round:
        """This round without the nodes from `source` that were not accepted, nor what stands below such a node.

        The rest is numbered anew, and `withheld` says how many are missing: they were drafted all the same. What was
        decided about them goes too.
        """
        tree = self.tree
        kept: list[int] = []
        for node, parent in enumerate(tree.parents):
            shown = tree.sources[node] != source or tree.fates[node] == "accepted"
            if shown and (parent == ROOT or parent in kept):
                kept.append(node)
        places = {node: place for place, node in enumerate(kept)}
        decisions = tuple(replace(each, node=places[each.node]) for each in self.decisions if each.node in places)
        withheld = self.withheld + len(tree) - len(kept)
        return replace(self, tree=tree.only(kept), decisions=decisions, withheld=withheld)

    @property
    def end_ms(self) -> float:
        return self.start_ms + self.draft_ms + self.verify_ms


@dataclass(frozen=True)
class Trace:
    """One answer from prompt to last token, with all that is needed to draw it again without a model."""

    created: str  # ISO 8601, UTC
    device: str  # e.g. "AMD EPYC, 2 threads" or "NVIDIA L4"
    dtype: str
    preset: str
    method: str
    settings: dict[str, Any]
    messages: tuple[dict[str, str], ...]  # [{"role", "content"}, …] as the visitor saw them; empty if raw
    prompt: tuple[int, ...]
    token_bytes: dict[int, bytes]  # for every id in the prompt, the trees and the answer
    rounds: tuple[Round, ...] = field(default=())
    finish_reason: FinishReason | None = None  # None while the answer is still running

    def token_ids(self) -> list[int]:
        """The answer: every committed token in order."""
        return [token for round_ in self.rounds for token in round_.committed]

    def with_round(self, round_: Round, token_bytes: dict[int, bytes]) -> Trace:
        """This trace grown by one round; `token_bytes` holds the ids not seen before."""
        return replace(self, rounds=(*self.rounds, round_), token_bytes=self.token_bytes | token_bytes)

    def contexts(self) -> Iterator[tuple[Round, list[int]]]:
        """Each round with the answer's tokens that were committed before it."""
        before: list[int] = []
        for round_ in self.rounds:
            yield round_, list(before)
            before.extend(round_.committed)
