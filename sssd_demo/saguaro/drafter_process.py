"""The engine's end of the drafter: starts its process, talks to it, and notices when it is gone."""

from __future__ import annotations

import logging
import multiprocessing
import queue
import threading
import time
from dataclasses import replace
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Literal

from sssd_demo.errors import UserError
from sssd_demo.saguaro.messages import Failed, Ready, Reply, Stop
from sssd_demo.saguaro.worker import Load, process, receive, send, work
from sssd_demo.trace import Span

logger = logging.getLogger(__name__)

START_SECONDS = 180.0  # a large draft model takes its time to load
STOP_SECONDS = 2.0
SILENT_SECONDS = 180.0  # without the reply that somebody waits for; reading a long text takes its time too

Place = Literal["process", "thread"]


class DrafterProcess:
    """One drafter at a time, in a process of its own or, where those are not allowed, in a thread.

    `ensure` may be called by any thread; sending and receiving is for the engine's thread alone.
    """

    def __init__(self, load: Load, *, cores: tuple[int, ...] = (), threads: int = 1, place: Place = "process") -> None:
        """Starts nothing. `load` must be picklable for a process; `cores` are those it may use (empty: any)."""
        self.cores = cores
        self.threads = threads
        self.place: Place = place
        self.step_seconds: dict[int, float] = {}  # by the drafter's own account, one sequence, by tokens
        self._load = load
        self._door = threading.Lock()
        self._current: Drafter | None = None
        self._starts = 0
        self._closed = False

    @property
    def current(self) -> Drafter | None:
        """The drafter that is ready now."""
        current = self._current
        return current if current is not None and current.ready else None

    def ensure(self, seconds: float = START_SECONDS) -> None:
        """Wait until there is a drafter, and start one if there is none.

        Raises `UserError` if it cannot be started or takes longer than `seconds`.
        """
        with self._door:
            if self._closed or self.current is not None:
                return
            if self._current is not None:
                self._current.stop()
            self._current = self._start()
            self.step_seconds = self._current.wait(seconds).step_seconds

    def close(self) -> None:
        """End the drafter, and start none any more."""
        self._closed = True  # one that is just being started will be stopped below
        current = self._current
        if current is not None:
            current.stop()

    def _start(self) -> Drafter:
        self._starts += 1
        if self.place == "process":
            try:
                return Drafter.in_process(self._starts, self._load, self.cores, self.threads)
            except (OSError, ValueError) as error:
                logger.warning("no process can be started for the drafter (%s); it becomes a thread", error)
                self.place = "thread"
        return Drafter.in_thread(self._starts, self._load, self.threads)


class Drafter:
    """One running drafter; another one, of another `number`, knows nothing of its sequences.

    A thread takes in what it says, so that neither end ever waits for the other to read.
    """

    def __init__(self, number: int, channel: Connection, process: BaseProcess | None) -> None:
        self.number = number
        self.ready = False
        self._channel = channel
        self._process = process
        self._said: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._unclaimed: list[Span] = []  # of replies that nobody waited for
        threading.Thread(target=self._listen, name="drafter-ear", daemon=True).start()

    @classmethod
    def in_process(cls, number: int, load: Load, cores: tuple[int, ...], threads: int) -> Drafter:
        """Spawned, never forked: a fork after a torch operation may hang."""
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        child = context.Process(target=process, args=(there, load, cores, threads), name="drafter", daemon=True)
        child.start()
        there.close()  # so that the end of the process ends the channel
        return cls(number, here, child)

    @classmethod
    def in_thread(cls, number: int, load: Load, threads: int) -> Drafter:
        here, there = multiprocessing.Pipe()
        threading.Thread(target=work, args=(there, load, threads), name="drafter", daemon=True).start()
        return cls(number, here, None)

    def wait(self, seconds: float) -> Ready:
        """Until it has loaded its model. Raises `UserError` if it never will."""
        try:
            said = self._said.get(timeout=seconds)
        except queue.Empty:
            self.stop()
            raise UserError(f"The drafter was not ready after {seconds:.0f} seconds.") from None
        if isinstance(said, Ready):
            self.ready = True
            return said
        self.stop()
        reason = said.reason.rstrip(".") if isinstance(said, Failed) else "its process has ended"
        raise UserError(f"The drafter could not be started: {reason}.")

    def send(self, message: Any) -> bool:
        """False if it is not there to hear it."""
        try:
            send(self._channel, message)
        except OSError:
            self.ready = False
            return False
        return True

    def reply(self, version: int, until: float | None = None) -> Reply | None:
        """The reply to the question of that version; None if the drafter is gone or time is up.

        `until` is a moment of `time.monotonic`; without one, a drafter that stays silent is given up. Replies to
        earlier questions came too late, or nobody waited for them since they only said goodbye: they are dropped, but
        not what they tell of the drafter's work.
        """
        limit = time.monotonic() + SILENT_SECONDS if until is None else until
        while self.ready:
            try:
                said = self._said.get(timeout=max(0.0, limit - time.monotonic()))
            except queue.Empty:
                if until is None:
                    logger.warning("the drafter has been silent for %.0f seconds and is given up", SILENT_SECONDS)
                    self.ready = False
                return None
            if said is None or isinstance(said, Failed):
                self.ready = False
            else:
                self._unclaimed += said.spans
                if said.version == version:
                    spans, self._unclaimed = tuple(self._unclaimed), []
                    return replace(said, spans=spans)
        return None

    def stop(self) -> None:
        """It has a moment to end by itself; a thread cannot be made to."""
        self.send(Stop())
        self.ready = False
        if self._process is not None:
            self._process.join(STOP_SECONDS)
            if self._process.is_alive():
                self._process.kill()
                self._process.join()
        self._said.put(None)

    @property
    def process_id(self) -> int | None:
        """None for a thread."""
        return self._process.pid if self._process is not None else None

    def _listen(self) -> None:
        try:
            while True:
                self._said.put(receive(self._channel))
        except (EOFError, OSError):
            self._said.put(None)
        finally:
            self._channel.close()
