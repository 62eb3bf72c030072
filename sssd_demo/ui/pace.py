"""How often a page, or a program, is told how far an answer has come."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SHOW_EVERY = 0.1  # seconds between two updates at least; rounds in between are shown together
SHARE = 0.1  # of the time may go into updates: late in a long answer or on a busy machine they come less often
LONGEST = 1.0  # seconds between two updates at most


class Pace:
    """When the next update is due. `clock` is monotonic, in seconds."""

    def __init__(self, every: float | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._every = SHOW_EVERY if every is None else every
        self._clock = clock
        self._due = clock()

    def due(self) -> bool:
        return self._clock() >= self._due

    @contextmanager
    def update(self) -> Iterator[None]:
        """Around the making and sending of one update; what it takes decides when the next one is due."""
        began = self._clock()
        yield
        took = self._clock() - began
        self._due = began + max(self._every, min(LONGEST, took / SHARE))
