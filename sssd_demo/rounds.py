"""One round of a batch, step by step: draft, let the target read, judge, learn. The engine says who is in the batch."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Seq
from dataclasses import dataclass, field

import torch

from sssd_demo.acceptance import Acceptance
from sssd_demo.coins import Coins
from sssd_demo.length import LengthPlanner
from sssd_demo.pauses import Pauses
from sssd_demo.request import Finished, Request
from sssd_demo.sampling import top_tokens
from sssd_demo.scratch_tree import ScratchTree
from sssd_demo.speculators.methods import Faults, Methods
from sssd_demo.speculators.needs import WITH_DRAFT_MODEL
from sssd_demo.speculators.protocol import Outcome, Sequence, path_top
from sssd_demo.stream import Stream
from sssd_demo.target import Target
from sssd_demo.threads import Threads
from sssd_demo.trace import EMPTY_TREE, DraftTree, Round, SaguaroRound, Top
from sssd_demo.verify import Case, Verdict, cut, verify


@dataclass(eq=False)
class Running:
    """A sequence between its prefill and its end; it stands in the row of its index in the batch."""

    request: Request
    stream: Stream
    sequence: Sequence
    finished: Finished  # what the end will say, its reason still open
    acceptance: Acceptance = field(default_factory=Acceptance)
    rounds: int = 0

    @property
    def remaining(self) -> int:
        written = len(self.sequence.tokens) - self.sequence.prompt_length
        return self.request.max_new_tokens - written

    @property
    def ended(self) -> bool:
        """Whether the last token ends the answer."""
        return self.sequence.tokens[-1] in self.request.end_tokens or not self.remaining


@dataclass(frozen=True)
class Judged:
    """What verification made of one sequence's tree."""

    verdict: Verdict
    committed: tuple[int, ...]
    top: tuple[Top, ...]  # after the root, then after each node; empty where nobody asked for it
    scratch_next: tuple[int, ...] = ()  # the target's most likely token after each node that was not to be tested


class Rounds:
    """Draws up rounds for batches of running sequences. Only the engine's thread uses it."""

    def __init__(
        self, target: Target, methods: Methods, lengths: LengthPlanner, clock: Callable[[], float], threads: Threads
    ) -> None:
        self._threads = threads
        self._target = target
        self._methods = methods
        self._lengths = lengths
        self._clock = clock
        self._pauses = Pauses()
        self._pausing = False  # in this round
        self._proposed = False  # whether any method had guesses for it
        self._began = 0.0

    def first(self, running: Running, logits: torch.Tensor, started: float) -> None:
        """Round 0: the first token, from `logits` [V] after the prompt, which was begun to be read at `started`."""
        (judged,) = self._judge([running], [EMPTY_TREE], logits[None, None])
        _emit(running, judged, (started, started, self._clock()), batch=1)

    def draft(self, batch: Seq[Running]) -> tuple[dict[int, DraftTree], Faults]:
        """A tree for every sequence, by its id, or what went wrong.

        Where the length is left to the machine, it is one for all of them, and 1 while guesses do not pay.
        """
        self._began = self._clock()
        new = sum(running.rounds == 1 for running in batch)  # the prompt's round is all that they had
        self._pausing = _left_to_the_machine(batch) and self._pauses.pausing(_methods(batch), new)
        context = max(len(running.sequence.tokens) for running in batch)
        for running in batch:
            # Nodes past the last token that may still be written could never be committed.
            most = self._lengths.most(running.request.s_q, len(batch), context, running.sequence.s_q)
            most = 1 if self._pausing else most
            running.sequence.s_q, running.sequence.room = min(most, running.remaining), running.remaining
        trees, faults = self._methods.propose((running.request.method, running.sequence) for running in batch)
        self._proposed = any(map(len, trees.values()))
        drafted = [running for running in batch if running.sequence.id in trees]
        for running in drafted:
            if running.request.s_q == "auto":
                running.sequence.s_q = 1 + len(trees[running.sequence.id])
        self._shorten(drafted, trees, context)
        return trees, faults

    def _shorten(self, batch: Seq[Running], trees: dict[int, DraftTree], context: int) -> None:
        """Cut the trees of those who leave the length to the machine, to what pays best.

        Trees of other kinds stay whole. Which of several sampled tokens to drop would depend on what was drawn, and
        that changes the law.
        """
        free = [
            running
            for running in batch
            if running.request.s_q == "auto" and type(trees[running.sequence.id]) is DraftTree
        ]
        if not any(len(trees[running.sequence.id]) for running in free):
            return
        expected = [running.acceptance.expected(trees[running.sequence.id].probs) for running in free]
        fixed = [running.sequence.s_q for running in batch if running not in free]
        s_q = self._lengths.best(expected, fixed, context)
        for running in free:
            shorter = trees[running.sequence.id].first(s_q - 1)
            trees[running.sequence.id] = shorter
            running.sequence.s_q = 1 + len(shorter)

    def verify(self, batch: Seq[Running], trees: dict[int, DraftTree], started: float) -> list[Judged]:
        """One forward over the trees, of sequences that stand in rows 0…B−1; accepted tokens are committed and sent.

        `started` is when drafting began.
        """
        asked = ((running.request.method, running.sequence) for running in batch)
        accounts, beside = self._methods.verifying(asked, trees)
        self._threads.use(beside=beside)
        drafted = self._clock()
        proposed = [trees[running.sequence.id] for running in batch]
        logits = self._target.forward([running.sequence.tokens[-1] for running in batch], proposed)
        judged = self._judge(batch, proposed, logits, learning=not self._pausing)
        self._target.cache.keep_paths([each.verdict.path for each in judged])
        ended = self._clock()
        for running, each in zip(batch, judged, strict=True):
            account = accounts.get(running.sequence.id)
            _emit(running, each, (started, drafted, ended), batch=len(batch), saguaro=account)
        return judged

    def learn(self, batch: Seq[Running], judged: Seq[Judged]) -> Faults:
        """Tell every method what became of its drafts; returns what went wrong, by sequence id."""
        outcomes = []
        for running, each in zip(batch, judged, strict=True):
            verdict = each.verdict
            running.acceptance.observe(verdict.tree, verdict.path)
            outcome = Outcome(
                running.sequence,
                verdict.tree,
                verdict.path,
                verdict.bonus,
                each.committed,
                each.top,
                each.scratch_next,
            )
            outcomes.append((running.request.method, outcome))
        faults = self._methods.observe(outcomes)
        if _left_to_the_machine(batch):
            tokens = sum(len(each.committed) for each in judged)
            seconds = self._clock() - self._began
            self._pauses.observe(_methods(batch), drafted=self._proposed, tokens=tokens, seconds=seconds)
        return faults

    def _judge(
        self, batch: Seq[Running], trees: Seq[DraftTree], logits: torch.Tensor, *, learning: bool = True
    ) -> list[Judged]:
        """Verify every tree by its rows of `logits` [B, Q, V], and cut what it commits at the answer's end.

        Unless it is `learning`, no method is told what the target held likely, which takes time to find.
        """
        drafted = [tree.drafted() if isinstance(tree, ScratchTree) else tree for tree in trees]
        cases = [
            Case(
                tree,
                running.request.sampling,
                position=len(running.sequence.tokens),
                coins=Coins(running.request.sampling.seed),
                rule=running.request.drafting.rule,
            )
            for running, tree in zip(batch, drafted, strict=True)
        ]
        judged = []
        for running, whole, verdict, rows in zip(batch, trees, verify(cases, logits), logits, strict=True):
            verdict, committed = cut(verdict, running.remaining, running.request.end_tokens)
            asked = learning and self._methods.learns_from_top(running.request.method)
            top = top_tokens(rows[: 1 + len(verdict.tree)]) if asked or running.request.keep_top else []
            beside = rows[1 + len(verdict.tree) : 1 + len(whole)]
            after = tuple(beside.argmax(-1).tolist()) if len(beside) else ()
            judged.append(Judged(verdict, committed, tuple(top), after))
        return judged


def _left_to_the_machine(batch: Seq[Running]) -> bool:
    """Whether all lengths are, and no draft model has a length of its own."""
    return all(running.request.s_q == "auto" and running.request.method not in WITH_DRAFT_MODEL for running in batch)


def _methods(batch: Seq[Running]) -> list[str]:
    return [running.request.method for running in batch]


def _emit(
    running: Running,
    judged: Judged,
    times: tuple[float, float, float],
    *,
    batch: int,
    saguaro: SaguaroRound | None = None,
) -> None:
    """Extend the sequence and send the round; `times` are start, end of drafting and end, in seconds."""
    started, drafted, ended = times
    verdict, committed = judged.verdict, judged.committed
    running.sequence.tokens.extend(committed)
    running.stream.put(
        Round(
            index=running.rounds,
            batch_size=batch,
            s_q=running.sequence.s_q,
            start_ms=1e3 * started,
            draft_ms=1e3 * (drafted - started),
            verify_ms=1e3 * (ended - drafted),
            tree=verdict.tree,
            bonus=verdict.bonus,
            bonus_prob=verdict.bonus_prob,
            committed=committed,
            top=path_top(judged.top, verdict.path)[: len(committed)] if running.request.keep_top else (),
            rule=verdict.rule,
            decisions=verdict.decisions,
            draw=verdict.draw,
            scratch=len(judged.scratch_next),
            saguaro=saguaro,
        )
    )
    running.rounds += 1
