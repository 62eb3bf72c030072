"""Saguaro, or speculative speculative decoding: drafts prepared while the target verifies (arXiv 2603.03251).

A drafter at the other end of a pipe holds the draft model (`saguaro/worker.py`). This side says what is served when: a
draft that was prepared for the very outcome, one that is drafted while the target waits, or n-grams. Of the text alone
it keeps what SSSD keeps, which serves as backup, and with `mix` joins every draft.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from collections.abc import Sequence as Seq
from dataclasses import dataclass, field, replace
from typing import Protocol

from sssd_demo.saguaro.bent_law import Bending
from sssd_demo.saguaro.fallback import choose
from sssd_demo.saguaro.fan_out import Spread, counts, sized_budget
from sssd_demo.saguaro.messages import Ask, Drafted, Happened, Reply, Serve, Served, Wanted
from sssd_demo.saguaro.mixed_tree import mixed
from sssd_demo.saguaro.options import MAX_BUDGET
from sssd_demo.saguaro.past_rounds import PastRounds, Window
from sssd_demo.saguaro.step_times import BUDGETS, StepTimes
from sssd_demo.sampled_tree import SampledTree
from sssd_demo.speculators.draft_length import VerifySeconds
from sssd_demo.speculators.protocol import Outcome, Sequence
from sssd_demo.sssd.constants import DEFAULT
from sssd_demo.sssd.drafter import Drafter, Store
from sssd_demo.trace import EMPTY_TREE, DraftTree, Fallback, MissReason, SaguaroRound, Span, Work

FIRST_K = 3
MOST_K = 8  # where K is left to the machine


class RunningDrafter(Protocol):
    """One drafter; see `saguaro.drafter_process.Drafter`."""

    number: int
    ready: bool

    def send(self, message: Ask | Serve) -> bool: ...
    def reply(self, version: int, until: float | None = None) -> Reply | None: ...


class DrafterLink(Protocol):
    """Who has a drafter, or none at the moment: see `saguaro.drafter_process.DrafterProcess`."""

    step_seconds: dict[int, float]

    @property
    def current(self) -> RunningDrafter | None: ...


@dataclass
class _Answer:
    """One sequence, as far as this method knows it."""

    sequence: Sequence
    ngrams: Drafter
    past: PastRounds
    window: Window
    outcome: tuple[int, int]  # (number accepted, bonus) of the last round
    happened: Happened | None = None  # the last round, not told yet
    joined: int = 0  # the number of the drafter that has been told of it; 0: none
    rounds: int = 0
    most: int = 0  # nodes that this round's tree may have
    k: int = 0  # tokens to draft in a row
    budget: int = 1  # outcomes to prepare for
    account: SaguaroRound | None = None  # how the draft now served came about
    own: bool = False  # it is what the drafter drafted last
    depth: int = 0  # of the tree now served
    preparing: bool = False  # while the target verifies it
    started: float = 0.0


@dataclass(frozen=True)
class _Choice:
    """What is served for one sequence."""

    tree: DraftTree
    fallback: Fallback | None = None
    own: bool = False


@dataclass
class _Notes:
    """The spans of this side's work in the round that is being drawn up."""

    spans: list[Span] = field(default_factory=list)

    def add(self, what: Work, started: float, ended: float) -> None:
        self.spans.append(Span("target", what, 1e3 * started, 1e3 * ended))


class Saguaro:
    """`verify_seconds` gives T, the time of a target forward; `clock` is the engine's, and the drafter's too."""

    def __init__(
        self,
        drafter: DrafterLink,
        open_store: Callable[[str], Store],
        verify_seconds: VerifySeconds,
        *,
        mix: bool = False,
        versions: Callable[[], int],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`versions` numbers the questions to the drafter, which several methods may ask."""
        self.learns_from_top = DEFAULT.combine != "larger" and DEFAULT.recycled_weight > 0
        self._link = drafter
        # That of this round: it may die, and another be started, at any time.
        self._drafter: RunningDrafter | None = None
        self._open_store = open_store
        self._verify_seconds = verify_seconds
        self._mix = mix
        self._versions = versions
        self._clock = clock
        self._answers: dict[int, _Answer] = {}
        self._version = 0
        self._times = StepTimes(drafter)

    @property
    def drafting_beside(self) -> bool:
        """Whether the drafter is at work while the target verifies what was served last."""
        ready = self._drafter is not None and self._drafter.ready
        return ready and any(answer.preparing for answer in self._answers.values())

    def begin(self, sequence: Sequence) -> None:
        options = sequence.saguaro
        ngrams = Drafter(
            sequence.tokens[: sequence.prompt_length], [self._open_store(name) for name in sequence.stores], DEFAULT
        )
        ngrams.update(sequence.tokens)
        self._answers[sequence.id] = _Answer(
            sequence,
            ngrams,
            PastRounds(options.roll_back_after),
            Window(FIRST_K, MOST_K, options.latency_ms),
            outcome=(0, sequence.tokens[-1]),
        )

    def propose(self, sequences: Seq[Sequence]) -> list[DraftTree]:
        started = self._clock()
        self._drafter = self._link.current
        answers = [self._answers[sequence.id] for sequence in sequences]
        for answer in answers:
            answer.started, answer.most = started, answer.sequence.s_q - 1
            answer.k, answer.budget = self._plan(answer, len(answers))
        notes = _Notes()
        drafter = self._ask(answers)
        # Where n-grams join every draft, they are found while the drafter looks the outcomes up.
        ngrams = self._ngrams(answers, notes) if self._mix else {}
        waits = self._clock()
        reply = drafter.reply(self._version, self._patience(answers, started)) if drafter else None
        notes.add("wait", waits, self._clock())
        drafted = {each.id: each for each in reply.drafts} if reply else {}
        if not self._mix:
            wanting = [answer for answer in answers if self._wanting(answer, drafted.get(answer.sequence.id))]
            ngrams = self._ngrams(wanting, notes)
        spans = (*(reply.spans if reply else ()), *notes.spans)
        if reply:
            self._times.learn(reply.spans, len(answers))
        return [self._serve(answer, drafted.get(answer.sequence.id), ngrams, spans, len(answers)) for answer in answers]

    def verifying(self, sequences: Seq[Sequence], trees: Seq[DraftTree]) -> dict[int, SaguaroRound]:
        """The target begins: the drafter may prepare for what comes of it."""
        served = []
        accounts: dict[int, SaguaroRound] = {}
        for sequence, tree in zip(sequences, trees, strict=True):
            answer = self._answers[sequence.id]
            if answer.account is not None:
                accounts[sequence.id] = answer.account
            if self._drafter is not None and answer.joined == self._drafter.number:
                served.append(self._served(answer, tree))
        if self._drafter is not None and served:
            self._drafter.send(Serve(tuple(served)))
        return accounts

    def observe(self, outcomes: Seq[Outcome]) -> None:
        ended = self._clock()
        for outcome in outcomes:
            answer = self._answers[outcome.sequence.id]
            answer.happened = Happened(outcome.sequence.id, outcome.path, outcome.committed)
            answer.outcome = (len(outcome.path), outcome.bonus)
            # Of written tokens only: a rejected draft may hold draws that the next draft makes again.
            answer.ngrams.update(outcome.sequence.tokens, outcome.committed_top)
            drafted = sum(source == "model" for source in outcome.tree.sources)
            accepted = sum(outcome.tree.sources[node] == "model" for node in outcome.path)
            answer.past.acceptance.observe(drafted, min(drafted, accepted))
            answer.window.observe(drafted, accepted, 1e3 * (ended - answer.started), answer.past.hit_rate)

    def end(self, sequence: Sequence) -> None:
        answer = self._answers.pop(sequence.id, None)  # absent if `begin` failed
        if answer is not None and self._drafter is not None and answer.joined == self._drafter.number:
            # At once: whoever joins next may need the row, and it may be another method's.
            self._drafter.send(Ask(self._versions(), (), (sequence.id,), (), ()))

    def _ask(self, answers: Seq[_Answer]) -> RunningDrafter | None:
        """Tell the drafter what happened and ask for drafts; returns it, or None if there is none to ask."""
        drafter = self._drafter
        if drafter is None:
            return None
        new = [answer for answer in answers if answer.joined != drafter.number]
        joined = tuple(replace(answer.sequence, tokens=list(answer.sequence.tokens)) for answer in new)
        happened = tuple(answer.happened for answer in answers if answer not in new and answer.happened is not None)
        wanted = tuple(self._wanted(answer, len(answers)) for answer in answers)
        self._version = self._versions()
        if not drafter.send(Ask(self._version, joined, (), happened, wanted)):
            return None
        for answer in answers:
            answer.joined, answer.happened = drafter.number, None
        return drafter

    def _wanted(self, answer: _Answer, batch: int) -> Wanted:
        choice = choose(answer.sequence.saguaro.fallback, batch)
        return Wanted(
            answer.sequence.id,
            answer.k,
            redraft=choice != "partial" or answer.past.resting > 0,
            apart=choice == "immediate",
            bending=self._bending(answer),
        )

    def _ngrams(self, answers: Seq[_Answer], notes: _Notes) -> dict[int, DraftTree]:
        """N-grams by sequence id. The target waits for them, one sequence after another (`benchmarks/drafting.py`).

        They follow the text, which ends with the outcome. The drafter could look them up during verification only for
        the outcomes that it guesses, in a second copy of the stores.
        """
        if not answers:
            return {}
        started = self._clock()
        found = {answer.sequence.id: answer.ngrams.draft(answer.sequence.tokens, answer.most + 1) for answer in answers}
        notes.add("backup", started, self._clock())
        return found

    def _patience(self, answers: Seq[_Answer], started: float) -> float | None:
        """The moment up to which the target waits: that of the least patient sequence."""
        limits = [answer.sequence.saguaro.late_ms for answer in answers if answer.sequence.saguaro.late_ms is not None]
        return started + min(limits) / 1e3 if limits else None

    def _serve(
        self,
        answer: _Answer,
        drafted: Drafted | None,
        ngrams: Mapping[int, DraftTree],
        spans: tuple[Span, ...],
        batch: int,
    ) -> DraftTree:
        """Choose what the target verifies. What was just drafted is served or not by outcomes and time alone."""
        past, first = answer.past, not answer.rounds
        answer.rounds += 1
        hit = drafted is not None and drafted.hit and self._may_serve(drafted.tree, answer.most)
        why: MissReason | None = None
        if not hit:
            why = "rolled back" if past.resting else "first" if first else "miss"
            if drafted is None:
                why = "late" if self._drafter is not None and self._drafter.ready else "no drafter"
        if past.resting:
            past.rested()
        elif not first:
            past.looked_up(hit)
        if drafted is not None and drafted.rank is not None:
            past.ranked(drafted.rank, refused=answer.outcome[0] < answer.depth)
        choice = self._choice(answer, drafted, ngrams.get(answer.sequence.id, EMPTY_TREE), batch)
        answer.own = choice.own
        answer.account = SaguaroRound(
            outcome=answer.outcome,
            keys=drafted.keys if drafted else (),
            hit=hit,
            fallback=choice.fallback,
            spans=spans,
            why=why,
            rank=drafted.rank if drafted else None,
        )
        return choice.tree

    def _choice(self, answer: _Answer, drafted: Drafted | None, backup: DraftTree, batch: int) -> _Choice:
        options, most = answer.sequence.saguaro, answer.most
        if drafted is not None and len(drafted.tree) and self._may_serve(drafted.tree, most):
            redraft: Fallback = "immediate" if choose(options.fallback, batch) == "immediate" else "batched"
            fallback = None if drafted.hit else redraft
            if self._mix and len(backup):
                return _Choice(mixed(drafted.tree, backup, most), fallback)
            tree = drafted.tree if len(drafted.tree) <= most else drafted.tree.first(most)
            return _Choice(tree, fallback, own=not drafted.hit)
        if drafted is not None and drafted.hit and not len(drafted.tree):
            return _Choice(EMPTY_TREE)  # the answer has no room for more
        if options.nearest and drafted is not None and len(drafted.nearest):
            return _Choice(mixed(drafted.nearest, backup, most), "nearest")
        return _Choice(backup, "backup") if len(backup) else _Choice(EMPTY_TREE, "nothing")

    def _wanting(self, answer: _Answer, drafted: Drafted | None) -> bool:
        """Whether the drafter has nothing to serve where there is room for something."""
        if drafted is None:
            return True
        return not self._may_serve(drafted.tree, answer.most) or not (len(drafted.tree) or drafted.hit)

    @staticmethod
    def _may_serve(tree: DraftTree, most: int) -> bool:
        """A drawn token is never dropped: a draft that has become too long is served whole or not at all."""
        return len(tree) <= most or not isinstance(tree, SampledTree)

    def _served(self, answer: _Answer, tree: DraftTree) -> Served:
        sequence, k = answer.sequence, answer.k
        spread = self._spread(answer, answer.budget) if k and not answer.past.resting else None
        answer.preparing, answer.depth = spread is not None, max(tree.depths(), default=0)
        tokens = DraftTree(tokens=tree.tokens, parents=tree.parents)
        return Served(sequence.id, tokens, answer.own, k, sequence.room, spread, self._bending(answer))

    def _plan(self, answer: _Answer, batch: int) -> tuple[int, int]:
        """Tokens to draft in a row, and outcomes to prepare for, in the round that begins."""
        sequence, past, options = answer.sequence, answer.past, answer.sequence.saguaro
        if sequence.drafting.k == "auto":
            lengths = range(1, min(answer.window.k, answer.most) + 1) or (0,)
        else:
            lengths = (min(sequence.drafting.k, answer.most),)
        if options.fan_out == "sized":
            budgets: Seq[int] = (sized_budget(batch, past.hit_rate, MAX_BUDGET),)
        else:
            budgets = BUDGETS if options.budget == "auto" else (options.budget,)
        return self._times.best(
            lengths,
            budgets,
            lambda tokens: self._verify_seconds(batch, tokens, len(sequence.tokens)),
            past.acceptance.value,
            lambda k, budget: past.expected_hits(counts(self._spread(answer, budget), k)),
            batch,
        )

    @staticmethod
    def _spread(answer: _Answer, budget: int) -> Spread:
        options, past = answer.sequence.saguaro, answer.past
        return Spread(options.fan_out, budget, past.acceptance.value, past.exponent, options.confidence)

    def _bending(self, answer: _Answer) -> Bending:
        options = answer.sequence.saguaro
        return Bending(options.bend, options.c, shares=answer.past.shares)
