"""One answer's way out of the engine's thread."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator

from sssd_demo.request import Finished
from sssd_demo.trace import Round


class Stream:
    """The rounds of one request, in order, for one reader in another thread."""

    def __init__(self) -> None:
        self.finished: Finished | None = None
        self._failure: Exception | None = None
        self._events: queue.SimpleQueue[Round | Finished | Exception] = queue.SimpleQueue()
        self._cancelled = threading.Event()

    def __iter__(self) -> Iterator[Round]:
        """Rounds as they happen; then `finished` is set. Raises `UserError`, every time, if it cannot go on."""
        while self.finished is None:
            if self._failure is not None:
                raise self._failure
            event = self._events.get()
            if isinstance(event, Round):
                yield event
            elif isinstance(event, Finished):
                self.finished = event
            else:
                self._failure = event

    def cancel(self) -> None:
        """End the answer after the round now running. Safe to call at any time, from any thread."""
        self._cancelled.set()

    @property
    def cancelled(self) -> bool:
        return self._cancelled.is_set()

    def put(self, event: Round | Finished | Exception) -> None:
        """For the engine."""
        self._events.put(event)
