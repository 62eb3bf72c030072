"""A small model that guesses what the target will say: rows, keys and values of its own, and trees of its samples.

It drafts level by level for all sequences at once. One forward takes in what the target has committed since the last
round and gives the first level; every further level costs one forward over the tokens just drafted. What was drafted
and then accepted is not computed again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from collections.abc import Sequence as Seq
from dataclasses import dataclass, field, replace

import torch

from sssd_demo.coins import draft_coin
from sssd_demo.rows import RowTable
from sssd_demo.rules import without
from sssd_demo.sampled_tree import SampledTree
from sssd_demo.sampling import Sampling, distribution
from sssd_demo.speculators.protocol import Sequence
from sssd_demo.target import PREFILL_CHUNK, Target, chain
from sssd_demo.trace import EMPTY_TREE, ROOT, DraftTree, Law, Source

LONG = 16  # tokens; more than these are taken in apart, so that the other rows need not be padded to them


@dataclass(frozen=True)
class Plan:
    """How much to draft for one sequence: `width` alternatives after the root, each `depth` tokens long."""

    depth: int
    width: int = 1

    @property
    def nodes(self) -> int:
        return self.depth * self.width


@dataclass
class _Growing:
    """One sequence's tree while it is drafted. A level's nodes stand together, the alternatives in the same order."""

    sequence: Sequence
    plan: Plan
    sampling: Sampling  # the draft's own
    tokens: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    probs: list[float] = field(default_factory=list)
    q: dict[int, torch.Tensor] = field(default_factory=dict)

    def shape(self) -> DraftTree:
        """What a forward needs of it."""
        return DraftTree(tokens=tuple(self.tokens), parents=tuple(self.parents))

    def add(self, token: int, parent: int, prob: float) -> None:
        self.tokens.append(token)
        self.parents.append(parent)
        self.probs.append(prob)

    def tree(self) -> DraftTree:
        count = len(self.tokens)
        law: Law = "point" if self.sampling.greedy else "distinct" if self.plan.width > 1 else "sampled"
        source: Source = "model"
        tree = DraftTree(
            tokens=tuple(self.tokens),
            parents=tuple(self.parents),
            probs=tuple(self.probs),
            laws=(law,) * count,
            sources=(source,) * count,
            match_lengths=(0,) * count,
        )
        return SampledTree.of(tree, self.q) if self.q else tree


class DraftModel:
    """Drafts with a model of its own, for up to as many sequences as its cache has rows.

    `vocabulary` is the width of the target's logits: ids beyond it, with which larger siblings are padded, are never
    drafted. `step_seconds` is what one forward of one token each took lately, by `clock`. Only the engine's thread
    calls it.
    """

    def __init__(self, model: Target, vocabulary: int, clock: Callable[[], float] = time.perf_counter) -> None:
        self.step_seconds: float | None = None
        self.context_length = model.context_length
        self._model = model
        self._vocabulary = vocabulary
        self._clock = clock
        self._rows = RowTable(model.cache)
        self._ids: list[int] = []  # of the sequences in rows 0…b−1
        self._computed: dict[int, DraftTree] = {}  # the nodes whose keys and values are in a sequence's row

    def join(self, sequence: Sequence) -> None:
        """A sequence gets a row; what is new of its text since its conversation's last turn is taken in when it is
        first drafted for.
        """
        self._rows.claim(len(self._ids), sequence.conversation, sequence.tokens)
        self._ids.append(sequence.id)

    def leave(self, sequence: Sequence) -> None:
        """Free the sequence's row; the last one moves into the gap."""
        if sequence.id not in self._ids:  # it never got one
            return
        row, last = self._ids.index(sequence.id), len(self._ids) - 1
        computed = self._computed.get(self._ids[last])  # not committed yet, if others are kept later than it leaves
        beyond = 0 if computed is None else 1 + len(computed)
        self._rows.release(row, last, sequence.conversation, sequence.tokens, beyond)
        self._ids[row] = self._ids[last]
        self._ids.pop()
        self._computed.pop(sequence.id, None)

    def fits(self, sequence: Sequence, beyond: int = 0) -> bool:
        """Whether the text and so many tokens more are within the draft model's own context."""
        return len(sequence.tokens) + beyond <= self.context_length

    def unread(self, sequence: Sequence) -> int:
        """How many tokens of the text the forward of the next `read` takes in, those not counted that go before it."""
        new = len(sequence.tokens) - self._model.cache.lengths[self._ids.index(sequence.id)]
        while new > LONG:
            new -= min(PREFILL_CHUNK, new - 1)
        return new

    def draft(self, sequences: Seq[Sequence], plans: Seq[Plan]) -> list[DraftTree]:
        """One tree for each sequence, by its plan; a plan without nodes costs that sequence nothing."""
        growing = [
            _Growing(sequence, plan, draft_sampling(sequence))
            for sequence, plan in zip(sequences, plans, strict=True)
            if plan.nodes
        ]
        if growing:
            self._grow(growing)
        trees = {each.sequence.id: each.tree() for each in growing}
        return [trees.get(sequence.id, EMPTY_TREE) for sequence in sequences]

    def keep(self, paths: Mapping[int, Seq[int]]) -> None:
        """Of what was computed last, keep the keys and values of the accepted path, node indices by sequence id."""
        kept: list[Seq[int] | None] = [None] * len(self._ids)
        for id_, path in paths.items():
            computed = self._computed.pop(id_, None)
            if computed is not None:
                kept[self._ids.index(id_)] = [node for node in path if node < len(computed)]
        self._model.cache.keep_paths(kept)

    def forget_draft(self, id_: int) -> None:
        """The target verifies another tree than what was drafted last: nothing of it can be kept."""
        self._computed.pop(id_, None)

    @torch.inference_mode()
    def read(self, trees: Seq[tuple[Sequence, DraftTree]]) -> dict[int, torch.Tensor]:
        """Read what is new in the texts, and a tree after each, in one forward.

        Returns logits [1 + nodes, V] by sequence id: after the text's last token, and after each node. That token stays
        uncommitted, though its keys and values are there: it is the root of the tree.
        """
        cache = self._model.cache
        asked: dict[int, tuple[int, DraftTree, int]] = {}
        pending: dict[int, int] = {}  # by sequence id: tokens of the text that stand before its last one
        for sequence, tree in trees:
            row = self._ids.index(sequence.id)
            tokens = sequence.tokens
            while len(tokens) - cache.lengths[row] > LONG:
                start = cache.lengths[row]
                self._model.prefill(row, tokens[start : min(start + PREFILL_CHUNK, len(tokens) - 1)])
            new = tokens[cache.lengths[row] :]
            pending[sequence.id] = len(new) - 1
            asked[sequence.id] = new[0], _after(chain(new[1:]), tree), 0
        logits = self._forward(asked)
        for sequence, tree in trees:
            cache.advance(self._ids.index(sequence.id), pending[sequence.id])
            self._computed[sequence.id] = tree
        return {id_: rows[pending[id_] :] for id_, rows in logits.items()}

    @torch.inference_mode()
    def extend(self, trees: Seq[tuple[Sequence, DraftTree, int]]) -> dict[int, torch.Tensor]:
        """Compute the newest nodes of trees that have grown; the first so many nodes of each were computed before.

        Returns logits [new nodes, V] by sequence id.
        """
        asked = {sequence.id: (sequence.tokens[-1], tree, 1 + computed) for sequence, tree, computed in trees}
        logits = self._forward(asked)
        self._computed.update({id_: tree for id_, (_, tree, _) in asked.items()})
        return logits

    def _forward(self, asked: Mapping[int, tuple[int, DraftTree, int]]) -> dict[int, torch.Tensor]:
        """Sequence id → (root, tree, positions computed before); returns logits [new positions, V] of each.

        All rows take part in a forward. What it writes as padding for a row that nothing is asked of must come after
        what was computed there.
        """
        nothing = {id_: (0, tree, 1 + len(tree)) for id_, tree in self._computed.items()}
        rows = [asked.get(id_) or nothing.get(id_) or (0, EMPTY_TREE, 0) for id_ in self._ids]
        roots, trees, known = zip(*rows, strict=True)
        logits = self._model.forward(roots, trees, known)
        return {
            id_: logits[self._ids.index(id_), : 1 + len(tree) - known, : self._vocabulary]
            for id_, (_, tree, known) in asked.items()
        }

    @torch.inference_mode()
    def _grow(self, growing: list[_Growing]) -> None:
        logits = self.read([(each.sequence, EMPTY_TREE) for each in growing])
        for each in growing:
            _first_level(each, logits[each.sequence.id][0])
        for depth in range(1, max(each.plan.depth for each in growing)):
            started = self._clock()
            trees = [(each.sequence, each.shape(), len(self._computed[each.sequence.id])) for each in growing]
            logits = self.extend(trees)
            for each in growing:
                if depth < each.plan.depth:
                    _next_level(each, logits[each.sequence.id])
            self._note(self._clock() - started)

    def time_forward(self, batch: int, q: int, context: int) -> float:
        """Seconds of one forward; see `Target.time_forward`. For a draft model that drafts for nobody."""
        return self._model.time_forward(batch, q, context)

    def _note(self, seconds: float) -> None:
        self.step_seconds = seconds if self.step_seconds is None else 0.8 * self.step_seconds + 0.2 * seconds


def _after(text: DraftTree, tree: DraftTree) -> DraftTree:
    """The tree with its root's children after the last token of `text`, a chain: what a forward needs of the two."""
    shifted = tuple(parent + len(text) for parent in tree.parents)  # ROOT becomes the last token, or stays ROOT
    return DraftTree(tokens=text.tokens + tree.tokens, parents=text.parents + shifted)


def draft_sampling(sequence: Sequence) -> Sampling:
    """How the draft model samples for a sequence: like the target, or at a temperature of its own.

    For greedy answers it is greedy too: whatever is not the target's most likely token is refused.
    """
    own = sequence.drafting.temperature
    if own is None or sequence.sampling.greedy:
        return sequence.sampling
    return replace(sequence.sampling, temperature=own)


def _first_level(each: _Growing, logits: torch.Tensor) -> None:
    """`plan.width` different tokens after the root, from logits [V]."""
    if each.sampling.greedy:
        p = logits.float().softmax(-1)
        best = p.topk(min(each.plan.width, len(p)))
        for token, prob in zip(best.indices.tolist(), best.values.tolist(), strict=True):
            each.add(token, ROOT, prob)
        return
    law = draft_law(logits[None], each.sampling)[0]
    each.q[0] = law
    for _ in range(each.plan.width):
        if not float(law.sum()):  # top-k or top-p left fewer tokens than alternatives were asked for
            break
        token = drawn(law, _next_coin(each))
        each.add(token, ROOT, float(law[token]))
        law = without(law, token)


def _next_level(each: _Growing, logits: torch.Tensor) -> None:
    """One token after every node of the newest level, from logits [nodes of the level, V]."""
    first = len(each.tokens) - len(logits)
    if each.sampling.greedy:
        best = logits.float().softmax(-1).max(-1)
        for at, (token, prob) in enumerate(zip(best.indices.tolist(), best.values.tolist(), strict=True)):
            each.add(token, first + at, prob)
        return
    for at, law in enumerate(draft_law(logits, each.sampling)):
        token = drawn(law, _next_coin(each))
        each.q[1 + first + at] = law
        each.add(token, first + at, float(law[token]))


def draft_law(logits: torch.Tensor, sampling: Sampling) -> torch.Tensor:
    """The laws [N, V] that tokens are drawn from, and later verified with, in float64."""
    law = distribution(logits, sampling).double()
    return law / law.sum(-1, keepdim=True)


def drawn(law: torch.Tensor, coin: float) -> int:
    """A token from `law` [V] by inverse CDF."""
    cumulative = law.cumsum(-1)
    return int(torch.searchsorted(cumulative, coin * float(cumulative[-1]), right=True))


def _next_coin(each: _Growing) -> float:
    """For the tree's next node, a coin of its own."""
    sequence = each.sequence
    return draft_coin(sequence.sampling.seed, len(sequence.tokens), len(each.tokens))
