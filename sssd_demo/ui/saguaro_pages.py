"""What the server keeps of the Saguaro tab for an open page: its run, or one from a file."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from sssd_demo.compare.in_turn import InTurn
from sssd_demo.errors import UserError
from sssd_demo.ui.saguaro_found import Found, SweepPoint
from sssd_demo.ui.saguaro_run import SaguaroRun
from sssd_demo.ui.words import WORDS


@dataclass
class SaguaroPage:
    """One open page. Only handlers of that page touch it."""

    run: SaguaroRun | None = None
    found: Found | None = None  # what was on show before a sweep, or came from a file
    swept: tuple[SweepPoint, ...] = ()

    @property
    def busy(self) -> bool:
        return self.run is not None and not self.run.over

    @property
    def shown(self) -> Found | None:
        """The answers on show."""
        if self.run is not None and not self.run.sweep:
            return self.run.state().found
        return self.found

    @property
    def points(self) -> tuple[SweepPoint, ...]:
        """The sweep on show."""
        return self.run.state().sweep if self.run is not None and self.run.sweep else self.swept


class SaguaroPages:
    """All open pages; their runs wait in `in_turn`. Thread-safe."""

    def __init__(self, in_turn: InTurn) -> None:
        self._in_turn = in_turn
        self._pages: dict[str, SaguaroPage] = {}
        self._lock = threading.Lock()

    def get(self, page: str) -> SaguaroPage:
        """The page with this id, made when it is asked for first."""
        with self._lock:
            return self._pages.setdefault(page, SaguaroPage())

    def begin(self, page: str, make: Callable[[], SaguaroRun]) -> SaguaroRun:
        """Queue a run. Raises `UserError` while the last one is not over, if too many wait, or as `make` does."""
        own = self._free(page)
        run = make()
        self._in_turn.add(run)
        own.found, own.swept = own.shown, own.points  # what the new run does not bring stays on show
        own.run = run
        return run

    def show(self, page: str, found: Found) -> SaguaroPage:
        """Put a run from a file on show. Raises `UserError` while one is not over."""
        own = self._free(page)
        own.run, own.found, own.swept = None, found, own.points
        return own

    def ahead(self, run: SaguaroRun) -> int:
        """How many measurements of others come before it."""
        return self._in_turn.ahead(run)

    def drop(self, page: str) -> None:
        """The page was closed: stop what it runs and keep nothing of it."""
        with self._lock:
            own = self._pages.pop(page, None)
        if own is not None and own.run is not None:
            own.run.stop()

    def _free(self, page: str) -> SaguaroPage:
        own = self.get(page)
        if own.busy:
            raise UserError(WORDS["sag.refuse.running"])
        return own
