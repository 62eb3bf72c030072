"""Measurements take the machine one after another, in the order in which they came: two at once would not be fair."""

from __future__ import annotations

import threading
from typing import Protocol

from sssd_demo.errors import UserError


class Measurement(Protocol):
    """What waits for its turn; `run` returns when it is over."""

    def run(self) -> None: ...

    @property
    def over(self) -> bool: ...


class InTurn:
    """Runs what it is given on a thread of its own, which ends when nothing is left to do. Thread-safe."""

    def __init__(self, most: int) -> None:
        """At most so many run or wait at a time."""
        self._most = most
        self._queue: list[Measurement] = []  # the first one runs
        self._lock = threading.Lock()

    def add(self, measurement: Measurement) -> None:
        """Run it when its turn has come; returns at once. Raises `UserError` if too many wait already."""
        with self._lock:
            if len(self._waiting()) >= self._most:
                raise UserError(
                    f"{self._most} measurements of other visitors run or wait already; please try again in a minute."
                )
            self._queue.append(measurement)
            if len(self._queue) == 1:
                threading.Thread(target=self._work, name="measurements", daemon=True).start()

    def ahead(self, measurement: Measurement) -> int:
        """How many others come before it."""
        with self._lock:
            waiting = self._waiting()
            return waiting.index(measurement) if measurement in waiting else 0

    def _waiting(self) -> list[Measurement]:
        """Those that are not over: one that was stopped while it waited takes no turn."""
        return [each for each in self._queue if not each.over]

    def _work(self) -> None:
        while True:
            with self._lock:
                first = self._queue[0]
            first.run()
            with self._lock:
                self._queue.remove(first)
                if not self._queue:
                    return
