"""Rounds: draft, one target forward for the whole batch, verify, commit. The one loop behind every method.

The engine has a thread of its own, the only one that touches the model. Others submit a `Request` and iterate
over a `Stream`. It works on token ids; text, screens and files are other people's business.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import torch

from sssd_demo.acceptance import Acceptance
from sssd_demo.coins import Coins
from sssd_demo.errors import UserError
from sssd_demo.length import LengthPlanner
from sssd_demo.request import Finished, Request
from sssd_demo.rows import RowTable
from sssd_demo.sampled_tree import SampledTree
from sssd_demo.sampling import top_tokens
from sssd_demo.speculators.protocol import Outcome, Sequence, Speculator
from sssd_demo.stream import Stream
from sssd_demo.target import PREFILL_CHUNK, Target
from sssd_demo.trace import EMPTY_TREE, DraftTree, FinishReason, Round, Top
from sssd_demo.verify import Case, Verdict, cut, verify

logger = logging.getLogger(__name__)
_CANCELLED_UNREAD = Finished("cancelled", prefill_forwards=0, reused_tokens=0)  # ended before its prompt was read
T = TypeVar("T")


@dataclass(frozen=True)
class _Job:
    """Work for the engine's thread while nothing is being answered."""

    work: Callable[[Target], Any]
    result: Future[Any]

    def run(self, target: Target) -> None:
        try:
            self.result.set_result(self.work(target))
        except Exception as error:  # handed to the caller, whoever it is
            self.result.set_exception(error)


@dataclass
class _Running:
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


@dataclass(frozen=True)
class _Judged:
    """What verification made of one sequence's tree."""

    verdict: Verdict
    committed: tuple[int, ...]
    top: tuple[Top, ...]  # one for each committed token; empty where nobody asked for it


class Engine:
    """Serves requests in batches of up to `capacity` sequences.

    `lengths` plans how much is drafted for requests that name a rule instead of a number. `clock` is monotonic, in
    seconds; rounds carry milliseconds of it.
    """

    def __init__(
        self,
        target: Target,
        speculators: Mapping[str, Speculator],
        *,
        lengths: LengthPlanner,
        threads: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.capacity = target.cache.rows
        self.context_length = target.context_length
        self.lengths = lengths
        self._target = target
        self._speculators = dict(speculators)
        self._threads = threads
        self._clock = clock
        self._inbox: queue.SimpleQueue[tuple[Request, Stream] | _Job | Callable[[], None]] = queue.SimpleQueue()
        self._waiting: deque[tuple[Request, Stream]] = deque()
        self._jobs: deque[_Job] = deque()
        self._running: list[_Running] = []
        self._rows = RowTable(target.cache)
        self._sequences = 0
        self._closing = False
        self._door = threading.Lock()  # nothing is put into the inbox unseen while the engine closes
        self._thread = threading.Thread(target=self._serve, name="engine", daemon=True)
        self._thread.start()

    @property
    def busy(self) -> int:
        """Sequences running or waiting at this moment."""
        return len(self._running) + len(self._waiting) + self._inbox.qsize()

    @property
    def methods(self) -> list[str]:
        return list(self._speculators)

    def submit(self, request: Request) -> Stream:
        """Queue a request; returns at once.

        Raises `UserError` for an unknown method, a prompt that leaves no room in the context, or once the engine
        is closing.
        """
        if request.method not in self._speculators:
            known = ", ".join(self._speculators)
            raise UserError(f"There is no method called “{request.method}”; the methods are {known}.")
        room = self.context_length - len(request.prompt)
        if room < 1:
            raise UserError(
                f"The prompt has {len(request.prompt)} tokens, but the model's context holds {self.context_length}, "
                "the answer included; please shorten it."
            )
        stream = Stream()
        self._put((replace(request, max_new_tokens=min(request.max_new_tokens, room)), stream))
        return stream

    def forget(self, conversation: str) -> None:
        """Drop the keys and values kept for `conversation`'s next turn, and keep none of an answer under way."""
        self._inbox.put(partial(self._forget, conversation))

    def call(self, work: Callable[[Target], T]) -> T:
        """Run `work` on the engine's thread while nothing is being answered, and return what it returns.

        Raises what `work` raises, and `UserError` once the engine is closing.
        """
        job = _Job(work, Future())
        self._put(job)
        return job.result.result()

    def close(self) -> None:
        """Stop the thread after the round now running; answers under way or waiting end as cancelled."""
        with self._door:
            self._closing = True
        self._inbox.put(lambda: None)  # wakes the thread
        self._thread.join()

    def _put(self, item: tuple[Request, Stream] | _Job) -> None:
        with self._door:
            if self._closing:
                raise _shutting_down()
            self._inbox.put(item)

    def _serve(self) -> None:
        if self._threads:
            torch.set_num_threads(self._threads)  # binds the calling thread only
        while not self._closing:
            try:
                self._take_in()
                self._drop_cancelled()
                self._admit()
                if self._running:
                    self._round()
            except Exception as error:  # a fault must not end the thread that everybody waits for
                logger.exception("A round failed; its answers are given up")
                self._give_up(error)
        self._empty_inbox()
        for _, stream in self._waiting:
            stream.put(_CANCELLED_UNREAD)
        for job in self._jobs:
            job.result.set_exception(_shutting_down())
        while self._running:
            self._finish(self._running[0], "cancelled")

    def _take_in(self) -> None:
        """Empty the inbox; wait for it when there is nothing else to do. Jobs run only between answers."""
        self._empty_inbox()
        while self._jobs and not self._running:
            self._jobs.popleft().run(self._target)

    def _empty_inbox(self) -> None:
        while not self._inbox.empty() or not (self._running or self._waiting or self._jobs or self._closing):
            item = self._inbox.get()
            if isinstance(item, tuple):
                self._waiting.append(item)
            elif isinstance(item, _Job):
                self._jobs.append(item)
            else:
                item()

    def _forget(self, conversation: str) -> None:
        self._rows.forget(conversation)
        for running in self._running:
            if running.request.conversation == conversation:
                running.request = replace(running.request, conversation=None)
        self._waiting = deque(
            (replace(request, conversation=None), stream) if request.conversation == conversation else (request, stream)
            for request, stream in self._waiting
        )

    def _admit(self) -> None:
        while self._waiting and len(self._running) < self.capacity:
            request, stream = self._waiting.popleft()
            try:
                self._prefill(request, stream)
            except Exception as error:
                if not isinstance(error, UserError):
                    logger.exception("A prefill failed; the others go on")
                self._target.cache.truncate(len(self._running), 0)
                stream.put(_user_error(error))

    def _prefill(self, request: Request, stream: Stream) -> None:
        """Read the prompt into the next row, a chunk at a time, and draw the first token: round 0."""
        row = len(self._running)
        reused = self._rows.claim(row, request.conversation, request.prompt)
        started = self._clock()
        forwards = 0
        logits = None
        for start in range(reused, len(request.prompt), PREFILL_CHUNK):
            if stream.cancelled:
                break
            logits = self._target.prefill(row, request.prompt[start : start + PREFILL_CHUNK])
            forwards += 1
        if stream.cancelled or logits is None:
            self._rows.release(row, row, request.conversation, request.prompt)
            stream.put(Finished("cancelled", forwards, reused))
            return
        self._sequences += 1
        sequence = Sequence(
            self._sequences,
            [*request.prompt],
            len(request.prompt),
            s_q=1,
            stores=request.stores,
            sampling=request.sampling,
            drafting=request.drafting,
        )
        running = _Running(request, stream, sequence, Finished("length", forwards, reused))
        (judged,) = self._judge([running], [EMPTY_TREE], logits[None, None])
        self._emit(running, judged, (started, started, self._clock()), batch=1)
        self._speculators[request.method].begin(sequence)
        self._running.append(running)
        self._finish_if_done(running, judged.committed)

    def _drop_cancelled(self) -> None:
        """End cancelled answers, those too that still wait for a row."""
        for running in [running for running in self._running if running.stream.cancelled]:
            self._finish(running, "cancelled")
        waiting, self._waiting = self._waiting, deque()
        for request, stream in waiting:
            if stream.cancelled:
                stream.put(_CANCELLED_UNREAD)
            else:
                self._waiting.append((request, stream))

    def _round(self) -> None:
        batch = list(self._running)
        started = self._clock()
        trees = self._draft(batch)
        drafted = self._clock()
        logits = self._target.forward([running.sequence.tokens[-1] for running in batch], trees)
        judged = self._judge(batch, trees, logits)
        self._target.cache.keep_paths([each.verdict.path for each in judged])
        ended = self._clock()
        for running, each in zip(batch, judged, strict=True):
            self._emit(running, each, (started, drafted, ended), batch=len(batch))
        self._observe(batch, judged)
        for running, each in zip(batch, judged, strict=True):
            self._finish_if_done(running, each.committed)

    def _draft(self, batch: list[_Running]) -> list[DraftTree]:
        """A tree for every sequence, and its s_q; where that is left to the machine, one length for all of them."""
        context = max(len(running.sequence.tokens) for running in batch)
        for running in batch:
            # Nodes past the last token that may still be written could never be committed.
            most = self.lengths.most(running.request.s_q, len(batch), context, running.sequence.s_q)
            running.sequence.s_q = min(most, running.remaining)
        trees = self._propose(batch)
        for running, tree in zip(batch, trees, strict=True):
            if running.request.s_q == "auto":
                running.sequence.s_q = 1 + len(tree)
        # A sampled tree stays whole: which tokens to drop would depend on what was drawn, and that changes the law.
        free = {
            at: tree
            for at, tree in enumerate(trees)
            if batch[at].request.s_q == "auto" and not isinstance(tree, SampledTree)
        }
        if any(free.values()):
            expected = [batch[at].acceptance.expected(tree.probs) for at, tree in free.items()]
            fixed = [running.sequence.s_q for at, running in enumerate(batch) if at not in free]
            s_q = self.lengths.best(expected, fixed, context)
            for at, tree in free.items():
                trees[at] = tree.first(s_q - 1)
                batch[at].sequence.s_q = 1 + len(trees[at])
        return trees

    def _propose(self, batch: list[_Running]) -> list[DraftTree]:
        """One tree for each sequence; every speculator is asked once, for all of its sequences together."""
        trees = {}
        for method in {running.request.method for running in batch}:
            sequences = [running.sequence for running in batch if running.request.method == method]
            for sequence, tree in zip(sequences, self._speculators[method].propose(sequences), strict=True):
                if len(tree) >= sequence.s_q:
                    raise ValueError(f"{method} drafted {len(tree)} nodes for s_q = {sequence.s_q}")
                trees[sequence.id] = tree
        return [trees[running.sequence.id] for running in batch]

    def _judge(self, batch: list[_Running], trees: list[DraftTree], logits: torch.Tensor) -> list[_Judged]:
        """Verify every tree by its rows of `logits` [B, Q, V], and cut what it commits at the answer's end."""
        cases = [
            Case(
                tree,
                running.request.sampling,
                position=len(running.sequence.tokens),
                coins=Coins(running.request.sampling.seed),
                rule=running.request.drafting.rule,
            )
            for running, tree in zip(batch, trees, strict=True)
        ]
        judged = []
        for running, verdict, rows in zip(batch, verify(cases, logits), logits, strict=True):
            request = running.request
            verdict, committed = cut(verdict, running.remaining, request.end_tokens)
            top: list[Top] = []
            if request.keep_top or self._speculators[request.method].learns_from_top:
                kept = [0, *(1 + node for node in verdict.path)][: len(committed)]
                top = top_tokens(rows[kept])
            judged.append(_Judged(verdict, committed, tuple(top)))
        return judged

    def _observe(self, batch: list[_Running], judged: list[_Judged]) -> None:
        outcomes: dict[str, list[Outcome]] = {}
        for running, each in zip(batch, judged, strict=True):
            verdict = each.verdict
            running.acceptance.observe(verdict.tree, verdict.path)
            outcome = Outcome(running.sequence, verdict.tree, verdict.path, verdict.bonus, each.committed, each.top)
            outcomes.setdefault(running.request.method, []).append(outcome)
        for method, learnt in outcomes.items():
            self._speculators[method].observe(learnt)

    def _emit(
        self,
        running: _Running,
        judged: _Judged,
        times: tuple[float, float, float],
        *,
        batch: int,
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
                top=judged.top if running.request.keep_top else (),
                rule=verdict.rule,
                decisions=verdict.decisions,
                draw=verdict.draw,
            )
        )
        running.rounds += 1

    def _finish_if_done(self, running: _Running, committed: tuple[int, ...]) -> None:
        if committed[-1] in running.request.end_tokens:
            self._finish(running, "end_of_text")
        elif not running.remaining:
            self._finish(running, "length")

    def _finish(self, running: _Running, reason: FinishReason) -> None:
        self._leave(running)
        running.stream.put(replace(running.finished, reason=reason))

    def _leave(self, running: _Running) -> None:
        """Free the sequence's row; the last running row moves into the gap."""
        row, last = self._running.index(running), len(self._running) - 1
        self._rows.release(row, last, running.request.conversation, running.sequence.tokens)
        self._running[row] = self._running[last]
        self._running.pop()
        self._speculators[running.request.method].end(running.sequence)

    def _give_up(self, error: Exception) -> None:
        """End every answer of a failed round; their rows cannot be trusted, so nothing of them is remembered."""
        failed, self._running = self._running, []
        for row, running in enumerate(failed):
            self._target.cache.truncate(row, 0)
            self._speculators[running.request.method].end(running.sequence)
            running.stream.put(_user_error(error))


def _shutting_down() -> UserError:
    return UserError("The engine is shutting down; please try again in a moment.")


def _user_error(error: Exception) -> UserError:
    if isinstance(error, UserError):
        return error
    if isinstance(error, (MemoryError, torch.OutOfMemoryError)) or "allocate memory" in str(error):
        return UserError("The machine ran out of memory for this answer; a shorter one may fit.")
    return UserError("The answer could not be finished because of an internal error; the log has the details.")
