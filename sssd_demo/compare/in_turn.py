"""Comparisons take the machine one after another, in the order in which they came: two at once would not be fair."""

from __future__ import annotations

import threading

from sssd_demo.compare.comparing import OVER, Comparing
from sssd_demo.errors import UserError


class InTurn:
    """Runs what it is given on a thread of its own, which ends when nothing is left to do. Thread-safe."""

    def __init__(self, most: int) -> None:
        """At most so many run or wait at a time."""
        self._most = most
        self._queue: list[Comparing] = []  # the first one runs
        self._lock = threading.Lock()

    def add(self, comparing: Comparing) -> None:
        """Run it when its turn has come; returns at once. Raises `UserError` if too many wait already."""
        with self._lock:
            if len(self._waiting()) >= self._most:
                raise UserError(
                    f"{self._most} comparisons of other visitors run or wait already; please try again in a minute."
                )
            self._queue.append(comparing)
            if len(self._queue) == 1:
                threading.Thread(target=self._work, name="comparisons", daemon=True).start()

    def ahead(self, comparing: Comparing) -> int:
        """How many others come before it."""
        with self._lock:
            waiting = self._waiting()
            return waiting.index(comparing) if comparing in waiting else 0

    def _waiting(self) -> list[Comparing]:
        """Those that are not over: one that was stopped while it waited takes no turn."""
        return [each for each in self._queue if each.progress().phase not in OVER]

    def _work(self) -> None:
        while True:
            with self._lock:
                first = self._queue[0]
            first.run()
            with self._lock:
                self._queue.remove(first)
                if not self._queue:
                    return
