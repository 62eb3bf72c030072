"""How many cores the target computes on.

Three parties set thread counts, each for the thread it runs in: the engine for the target (here), a drafter for its
own process (`saguaro/worker.py`), and whoever loads or measures a model for the time that takes. A batch with one
sequence that is drafted for beside the target leaves cores to the drafter for all sequences of the batch, since they
share one forward; every other batch has all cores.
"""

from __future__ import annotations

import torch


class Threads:
    """`alone` is used while nobody drafts beside the target, `beside` while somebody does. For the engine's thread."""

    def __init__(self, alone: int, beside: int | None = None) -> None:
        self.alone = alone
        self.beside = alone if beside is None else beside
        self._now = 0

    def use(self, *, beside: bool) -> None:
        """Takes effect for the calling thread's forwards from now on."""
        wanted = self.beside if beside else self.alone
        if wanted != self._now:
            torch.set_num_threads(wanted)
            self._now = wanted
