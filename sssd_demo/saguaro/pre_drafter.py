"""The drafter's two turns in a round: to answer with a draft at once, and then to prepare for what may come of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from collections.abc import Sequence as Seq
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import torch

from sssd_demo.coins import branch_coin, draft_coin
from sssd_demo.request import MAX_S_Q
from sssd_demo.saguaro.bent_law import Bending, bent
from sssd_demo.saguaro.fan_out import Key, counts, outcomes
from sssd_demo.saguaro.messages import Ask, Drafted, Happened, Reply, Serve, Served, Wanted
from sssd_demo.saguaro.speculation_cache import SpeculationCache, model_chain
from sssd_demo.sampled_tree import SampledTree
from sssd_demo.sampling import Sampling
from sssd_demo.speculators.draft_model import LONG, DraftModel, draft_law, draft_sampling, drawn
from sssd_demo.speculators.protocol import Sequence
from sssd_demo.target import PREFILL_CHUNK
from sssd_demo.trace import EMPTY_TREE, ROOT, DraftTree, Span, Work

# Nodes of a served tree and its branches. A row has room for `PREFILL_CHUNK` tokens beyond the context. After what it
# holds stands the padding of forwards for other rows: as much as the end of a text and a tree.
NODES_MOST = PREFILL_CHUNK - 1 - (LONG + MAX_S_Q)


@dataclass
class _Branch:
    """A draft that grows token by token, for one outcome of a round or for the text as it is."""

    sampling: Sampling
    k: int  # tokens wanted
    bending: Bending
    coin: Callable[[int], float]  # for the token of that number
    end: int = ROOT  # the node of the row's tree after which the next token comes
    tokens: list[int] = field(default_factory=list)
    probs: list[float] = field(default_factory=list)
    q: dict[int, torch.Tensor] = field(default_factory=dict)

    def most_likely(self, law: torch.Tensor) -> None:
        """Choose the next token without chance, from the draft model's law [V] at temperature 1."""
        token = int(law.argmax())
        self.add(token, float(law[token]))

    def sample(self, law: torch.Tensor) -> None:
        """Draw the next token; `law` [V] is the draft model's, after temperature, top-k and top-p."""
        place = len(self.tokens)
        law = bent(law, self.bending, place)
        token = drawn(law, self.coin(place))
        self.q[place] = law
        self.add(token, float(law[token]))

    def add(self, token: int, prob: float) -> None:
        self.tokens.append(token)
        self.probs.append(prob)

    def draft(self) -> DraftTree:
        tree = model_chain(self.tokens, self.probs, "point" if self.sampling.greedy else "sampled")
        return SampledTree.of(tree, self.q) if self.q else tree


@dataclass
class _Row:
    """The tree in one sequence's row of the draft model's cache, and the branches that grow on it."""

    sequence: Sequence
    tree: DraftTree
    branches: list[_Branch]
    computed: int = 0  # nodes

    def growing(self) -> list[_Branch]:
        return [branch for branch in self.branches if len(branch.tokens) < branch.k]

    def append(self, nodes: Seq[tuple[int, int]]) -> None:
        """Add (parent, token) nodes, whose keys and values are not there yet."""
        self.tree = DraftTree(
            tokens=self.tree.tokens + tuple(token for _, token in nodes),
            parents=self.tree.parents + tuple(parent for parent, _ in nodes),
        )


class PreDrafter:
    """Drafts with `draft` for all sequences it was told of. One thread uses it, the drafter's own.

    `clock` is monotonic, in seconds, and the one that the engine uses.
    """

    def __init__(self, draft: DraftModel, clock: Callable[[], float] = time.monotonic) -> None:
        self._draft = draft
        self._clock = clock
        self._sequences: dict[int, Sequence] = {}
        self._caches: dict[int, SpeculationCache] = {}
        self._spans: list[Span] = []

    def answer(self, ask: Ask, hurry: Callable[[], bool]) -> Reply:
        """Take in what happened, and look every outcome up; what was not prepared is drafted now if that is wanted.

        `hurry` says that the engine has gone on without waiting, so that nothing need be drafted any more.
        """
        with self._span("lookup"):
            for id_ in ask.left:
                if id_ in self._sequences:
                    self._draft.leave(self._sequences.pop(id_))
                self._caches.pop(id_, None)
            for sequence in ask.joined:
                self._draft.join(sequence)
                self._sequences[sequence.id] = sequence
            self._take_in(ask.happened)
            ends = {happened.id: happened for happened in ask.happened}
            drafts = {wanted.id: self._look_up(wanted, ends.get(wanted.id)) for wanted in ask.wanted}
        missing = [wanted for wanted in ask.wanted if wanted.redraft and not drafts[wanted.id].hit]
        together = [wanted for wanted in missing if not wanted.apart]
        for group in [*([wanted] for wanted in missing if wanted.apart), together]:
            if group and not hurry():
                for id_, tree in self._redraft(group).items():
                    drafts[id_] = replace(drafts[id_], tree=tree)
        spans, self._spans = tuple(self._spans), []
        return Reply(ask.version, tuple(drafts[wanted.id] for wanted in ask.wanted), spans)

    def prepare(self, serve: Serve, hurry: Callable[[], bool]) -> None:
        """Draft for the likely outcomes of the verification that has begun, unless it is over already: `hurry`."""
        rows = []
        for served in serve.served:
            sequence = self._sequences[served.id]
            deepest = max(served.tree.depths(), default=0)
            if served.spread is None or not self._draft.fits(sequence, beyond=deepest + served.k + 1) or hurry():
                if not served.own:
                    self._draft.forget_draft(served.id)
                continue
            rows.append((served, sequence))
        if not rows:
            return
        width = max(self._draft.unread(sequence) + len(served.tree) for served, sequence in rows)
        with self._span("glue", width):
            logits = self._draft.read([(sequence, served.tree) for served, sequence in rows])
        prepared = [(served, self._branches(served, sequence, logits[sequence.id])) for served, sequence in rows]
        self._grow([row for _, (_, row) in prepared], "branch")
        for served, (keys, row) in prepared:
            drafts = {key: branch.draft() for key, branch in zip(keys, row.branches, strict=True)}
            self._caches[served.id] = SpeculationCache(len(row.sequence.tokens), served.tree, logits[served.id], drafts)

    def _take_in(self, happened: Seq[Happened]) -> None:
        self._draft.keep({each.id: each.path for each in happened})
        for each in happened:
            self._sequences[each.id].tokens.extend(each.committed)

    def _look_up(self, wanted: Wanted, happened: Happened | None) -> Drafted:
        cache = self._caches.pop(wanted.id, None)
        position = len(self._sequences[wanted.id].tokens)
        if cache is None or happened is None or cache.position + len(happened.committed) != position:
            return Drafted(wanted.id)  # nothing was prepared for this round
        bonus = happened.committed[-1]
        found = cache.look_up(happened.path, bonus)
        return Drafted(
            wanted.id,
            found or EMPTY_TREE,
            hit=found is not None,
            keys=cache.outcomes(),
            rank=cache.rank(happened.path, bonus),
            nearest=EMPTY_TREE if found is not None else cache.nearest(happened.path, bonus),
        )

    def _redraft(self, missing: Seq[Wanted]) -> dict[int, DraftTree]:
        """Draft after the texts as they are now."""
        rows = []
        for wanted in missing:
            sequence = self._sequences[wanted.id]
            if wanted.k and self._draft.fits(sequence, beyond=wanted.k):
                sampling, position = draft_sampling(sequence), len(sequence.tokens)

                def coin(place: int, seed: int = sampling.seed, position: int = position) -> float:
                    return draft_coin(seed, position, place)

                rows.append(_Row(sequence, EMPTY_TREE, [_Branch(sampling, wanted.k, wanted.bending, coin)]))
        if not rows:
            return {}
        with self._span("redraft", max(self._draft.unread(row.sequence) for row in rows)):
            logits = self._draft.read([(row.sequence, EMPTY_TREE) for row in rows])
            _lengthen([(row, row.branches, logits[row.sequence.id][:1]) for row in rows])
        self._grow(rows, "redraft")
        return {row.sequence.id: row.branches[0].draft() for row in rows}

    def _branches(self, served: Served, sequence: Sequence, logits: torch.Tensor) -> tuple[list[Key], _Row]:
        """One branch for each outcome that is prepared; its bonus token is a node of the row's tree."""
        assert served.spread is not None
        tree, sampling = served.tree, draft_sampling(sequence)
        room = NODES_MOST - len(tree)
        spread = replace(served.spread, budget=min(served.spread.budget, room // max(1, served.k)))
        keys = outcomes(tree, logits, spread)
        bending = replace(served.bending, fan=tuple(counts(spread, served.k)))
        row = _Row(sequence, tree, [], computed=len(tree))
        position = len(sequence.tokens)
        for node, bonus in keys:

            def coin(place: int, node: int = node, bonus: int = bonus) -> float:
                return branch_coin(sampling.seed, position, node, bonus, place)

            # What stays free for a draft once the path, its bonus, and the next round's own bonus are written.
            k = max(0, min(served.k, served.room - (tree.depth(node) + 1) - 1))
            row.branches.append(_Branch(sampling, k, bending, coin, end=len(tree) + len(row.branches)))
        row.append(keys)
        return keys, row

    def _grow(self, rows: Seq[_Row], what: Work) -> None:
        """One forward a level, for all branches of all sequences that want more tokens."""
        while any(row.growing() for row in rows):
            width = max(len(row.tree) - row.computed for row in rows)
            with self._span(what, width):
                asked = [(row.sequence, row.tree, row.computed) for row in rows if len(row.tree) > row.computed]
                logits = self._draft.extend(asked)
                longer = []
                for row in rows:
                    first, row.computed = row.computed, len(row.tree)
                    growing = row.growing()
                    if growing:
                        places = [branch.end - first for branch in growing]
                        longer.append((row, growing, logits[row.sequence.id][places]))
                _lengthen(longer)

    @contextmanager
    def _span(self, what: Work, tokens: int = 0) -> Iterator[None]:
        started = self._clock()
        yield
        self._spans.append(Span("drafter", what, 1e3 * started, 1e3 * self._clock(), tokens))


def _lengthen(rows: Seq[tuple[_Row, Seq[_Branch], torch.Tensor]]) -> None:
    """One more token for each branch, from logits [branches, V]; it becomes a node if more are to follow.

    Branches with the same sampling settings have their laws computed together.
    """
    alike: dict[Sampling, list[tuple[_Branch, torch.Tensor]]] = {}
    for _, branches, logits in rows:
        for branch, after in zip(branches, logits, strict=True):
            alike.setdefault(replace(branch.sampling, seed=0), []).append((branch, after))
    for sampling, members in alike.items():
        together = torch.stack([logits for _, logits in members])
        laws = together.float().softmax(-1) if sampling.greedy else draft_law(together, sampling)
        for (branch, _), law in zip(members, laws, strict=True):
            if sampling.greedy:
                branch.most_likely(law)
            else:
                branch.sample(law.clone())  # q travels, and a view would take all laws along
    for row, branches, _ in rows:
        nodes = []
        for branch in branches:
            if len(branch.tokens) < branch.k:
                nodes.append((branch.end, branch.tokens[-1]))
                branch.end = len(row.tree) + len(nodes) - 1
        row.append(nodes)
