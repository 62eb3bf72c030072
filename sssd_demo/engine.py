"""Serves requests: who waits, whose prompt is read, who is in the batch, who has ended. The rounds are `rounds.py`'s.

The engine has a thread of its own, the only one that touches the model. Others submit a `Request` and iterate
over a `Stream`. It works on token ids; text, screens and files are other people's business.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import torch

from sssd_demo.errors import UserError
from sssd_demo.length import LengthPlanner
from sssd_demo.request import Finished, Request
from sssd_demo.rounds import Rounds, Running
from sssd_demo.rows import RowTable
from sssd_demo.speculators.methods import Methods
from sssd_demo.speculators.protocol import Sequence, Speculator
from sssd_demo.stream import Stream
from sssd_demo.target import PREFILL_CHUNK, Target
from sssd_demo.threads import Threads
from sssd_demo.trace import FinishReason

logger = logging.getLogger(__name__)

CHUNK_BESIDE = 64  # prompt tokens read between two rounds, while others are answered
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
class _Arrival:
    """A request before its first token; once its prompt is being read, it has the row after the running ones."""

    request: Request
    stream: Stream
    started: float = 0.0  # when its prompt began to be read
    read: int = 0  # prompt tokens whose keys and values are there
    reused: int = 0  # of these, the ones left from the conversation's last turn
    forwards: int = 0

    def finished(self, reason: FinishReason) -> Finished:
        return Finished(reason, self.forwards, self.reused)


class Engine:
    """Serves requests in batches of up to `capacity` sequences; they join and leave between rounds.

    `lengths` plans how much is drafted for requests that name a rule instead of a number. `clock` is monotonic, in
    seconds; rounds carry milliseconds of it.
    """

    def __init__(
        self,
        target: Target,
        speculators: Mapping[str, Speculator],
        *,
        lengths: LengthPlanner,
        threads: Threads | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.capacity = target.cache.rows
        self.context_length = target.context_length
        self.lengths = lengths
        self._target = target
        self._methods = Methods(speculators)
        self._threads = threads or Threads(torch.get_num_threads())
        self._rounds = Rounds(target, self._methods, lengths, clock, self._threads)
        self._clock = clock
        self._inbox: queue.SimpleQueue[_Arrival | _Job | Callable[[], None]] = queue.SimpleQueue()
        self._waiting: deque[_Arrival] = deque()
        self._reading: _Arrival | None = None
        self._running: list[Running] = []
        self._jobs: deque[_Job] = deque()
        self._rows = RowTable(target.cache)
        self._sequences = 0
        self._closing = False
        self._door = threading.Lock()  # nothing is put into the inbox unseen while the engine closes
        self._thread = threading.Thread(target=self._serve, name="engine", daemon=True)
        self._thread.start()

    @property
    def busy(self) -> int:
        """Sequences running or waiting at this moment."""
        return len(self._running) + (self._reading is not None) + len(self._waiting) + self._inbox.qsize()

    @property
    def methods(self) -> list[str]:
        return self._methods.names

    def submit(self, request: Request) -> Stream:
        """Queue a request; returns at once.

        Raises `UserError` for an unknown method, a prompt that leaves no room in the context, or once the engine
        is closing.
        """
        if request.method not in self.methods:
            known = ", ".join(self.methods)
            raise UserError(f"There is no method called “{request.method}”; the methods are {known}.")
        room = self.context_length - len(request.prompt)
        if room < 1:
            raise UserError(
                f"The prompt has {len(request.prompt)} tokens, but the model's context holds {self.context_length}, "
                "the answer included; please shorten it."
            )
        stream = Stream()
        self._put(_Arrival(replace(request, max_new_tokens=min(request.max_new_tokens, room)), stream))
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

    def _put(self, item: _Arrival | _Job) -> None:
        with self._door:
            if self._closing:
                raise _shutting_down()
            self._inbox.put(item)

    def _serve(self) -> None:
        self._threads.use(beside=False)  # binds the calling thread only
        while not self._closing:
            try:
                self._take_in()
                self._drop_cancelled()
                if not self._running:
                    self._threads.use(beside=False)
                self._read()
                if self._running:
                    self._round()
            except Exception as error:  # a fault must not end the thread that everybody waits for
                logger.exception("A round failed; its answers are given up")
                self._give_up(error)
        self._empty_inbox()
        self._stop_reading("cancelled")
        for arrival in self._waiting:
            arrival.stream.put(arrival.finished("cancelled"))
        for job in self._jobs:
            job.result.set_exception(_shutting_down())
        while self._running:
            self._finish(self._running[0], "cancelled")

    def _take_in(self) -> None:
        """Empty the inbox; wait for it when there is nothing else to do. Jobs run only between answers."""
        self._empty_inbox()
        while self._jobs and not self._running and self._reading is None:
            self._jobs.popleft().run(self._target)

    def _empty_inbox(self) -> None:
        while not self._inbox.empty() or self._idle():
            item = self._inbox.get()
            if isinstance(item, _Arrival):
                self._waiting.append(item)
            elif isinstance(item, _Job):
                self._jobs.append(item)
            else:
                item()

    def _idle(self) -> bool:
        return not (self._running or self._reading or self._waiting or self._jobs or self._closing)

    def _forget(self, conversation: str) -> None:
        self._rows.forget(conversation)
        answers: list[_Arrival | Running] = [*self._waiting, *self._running]
        for answer in [*answers, *([self._reading] if self._reading else [])]:
            if answer.request.conversation == conversation:
                answer.request = replace(answer.request, conversation=None)

    def _drop_cancelled(self) -> None:
        """End cancelled answers, those too that still wait for a row."""
        for running in [running for running in self._running if running.stream.cancelled]:
            self._finish(running, "cancelled")
        waiting, self._waiting = self._waiting, deque()
        for arrival in waiting:
            if arrival.stream.cancelled:
                arrival.stream.put(arrival.finished("cancelled"))
            else:
                self._waiting.append(arrival)

    def _read(self) -> None:
        """Read on in prompts, one after the other: a little if others are being answered, else until somebody is."""
        budget = CHUNK_BESIDE
        while budget > 0 or not self._running:
            if self._reading is None:
                if not self._waiting or len(self._running) == self.capacity:
                    return
                self._reading = self._waiting.popleft()
                self._begin_reading(self._reading)
            before = self._reading.read
            arrival = self._reading
            try:
                self._read_chunk(arrival, budget if self._running else PREFILL_CHUNK)
            except Exception as error:
                if not isinstance(error, UserError):
                    logger.exception("A prompt could not be read; the others go on")
                self._reading = None
                self._target.cache.truncate(len(self._running), 0)
                arrival.stream.put(_user_error(error))
            budget -= arrival.read - before

    def _begin_reading(self, arrival: _Arrival) -> None:
        row = len(self._running)
        arrival.started = self._clock()
        arrival.reused = arrival.read = self._rows.claim(row, arrival.request.conversation, arrival.request.prompt)

    def _read_chunk(self, arrival: _Arrival, most: int) -> None:
        """Read up to `most` tokens of a prompt; after the last one, draw the first token of the answer: round 0."""
        if arrival.stream.cancelled:
            self._stop_reading("cancelled")
            return
        request = arrival.request
        chunk = request.prompt[arrival.read : arrival.read + most]
        logits = self._target.prefill(len(self._running), chunk)
        arrival.forwards += 1
        arrival.read += len(chunk)
        if arrival.read == len(request.prompt):
            self._join(arrival, logits)

    def _join(self, arrival: _Arrival, logits: torch.Tensor) -> None:
        self._sequences += 1
        request = arrival.request
        sequence = Sequence(
            self._sequences,
            [*request.prompt],
            len(request.prompt),
            s_q=1,
            stores=request.stores,
            sampling=request.sampling,
            drafting=request.drafting,
            saguaro=request.saguaro,
            conversation=request.conversation,
            left_open=request.s_q == "auto",
        )
        running = Running(request, arrival.stream, sequence, arrival.finished("length"))
        self._rounds.first(running, logits, arrival.started)
        self._methods.begin(request.method, sequence)
        self._reading = None
        self._running.append(running)
        self._finish_if_ended(running)

    def _stop_reading(self, reason: FinishReason) -> None:
        """End the answer whose prompt is being read; what was read is remembered for its conversation."""
        arrival, self._reading = self._reading, None
        if arrival is not None:
            row = len(self._running)
            self._rows.release(row, row, arrival.request.conversation, arrival.request.prompt)
            arrival.stream.put(arrival.finished(reason))

    def _round(self) -> None:
        started = self._clock()
        trees, faults = self._rounds.draft(self._running)
        self._fail(faults.items())
        if not self._running:
            return
        batch = list(self._running)
        judged = self._rounds.verify(batch, trees, started)
        self._fail(self._rounds.learn(batch, judged).items())
        for running in batch:
            if running in self._running:
                self._finish_if_ended(running)

    def _finish_if_ended(self, running: Running) -> None:
        if running.ended:
            at_end = running.sequence.tokens[-1] in running.request.end_tokens
            self._finish(running, "end_of_text" if at_end else "length")

    def _finish(self, running: Running, reason: FinishReason) -> None:
        self._leave(running, running.request.conversation)
        running.stream.put(replace(running.finished, reason=reason))

    def _fail(self, faults: Iterable[tuple[int, Exception]]) -> None:
        """End those sequences, by their ids, whose drafting failed; the others go on."""
        for id_, error in faults:
            running = next(running for running in self._running if running.sequence.id == id_)
            self._leave(running, conversation=None)
            running.stream.put(_user_error(error))

    def _leave(self, running: Running, conversation: str | None) -> None:
        """Free the sequence's row; the last running row moves into the gap, and a prompt being read comes after it."""
        row, last = self._running.index(running), len(self._running) - 1
        self._rows.release(row, last, conversation, running.sequence.tokens)
        self._running[row] = self._running[last]
        self._running.pop()
        if self._reading is not None:
            self._rows.exchange(last, last + 1)
        self._methods.end(running.request.method, running.sequence)

    def _give_up(self, error: Exception) -> None:
        """End every answer of a failed round; their rows cannot be trusted, so nothing of them is remembered."""
        while self._running:
            running = self._running[-1]
            self._leave(running, conversation=None)
            running.stream.put(_user_error(error))


def _shutting_down() -> UserError:
    return UserError("The engine is shutting down; please try again in a moment.")


def _user_error(error: Exception) -> UserError:
    if isinstance(error, UserError):
        return error
    if isinstance(error, (MemoryError, torch.OutOfMemoryError)) or "allocate memory" in str(error):
        return UserError("The machine ran out of memory for this answer; a shorter one may fit.")
    return UserError("The answer could not be finished because of an internal error; the log has the details.")
