"""What the server keeps of the Compare tab for an open page: its comparison, or one from a file, and its questions."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from sssd_demo.compare.comparing import OVER, Comparing
from sssd_demo.compare.comparison import Comparison
from sssd_demo.compare.in_turn import InTurn
from sssd_demo.errors import UserError
from sssd_demo.questions import Question
from sssd_demo.ui.compare_lanes import LanesDrawing, Pair
from sssd_demo.ui.words import WORDS


@dataclass(frozen=True)
class QuestionFile:
    """A visitor's own questions; `all` is how many the file has."""

    name: str
    questions: tuple[Question, ...]
    all: int


@dataclass
class ComparePage:
    """One open page. Only handlers of that page touch it."""

    comparing: Comparing | None = None
    loaded: Comparison | None = None  # from a file; it is on show instead
    drawing: LanesDrawing = field(default_factory=LanesDrawing)
    pair: Pair | None = None  # whose answers are on show
    file: QuestionFile | None = None

    @property
    def busy(self) -> bool:
        return self.comparing is not None and self.comparing.progress().phase not in OVER

    @property
    def shown(self) -> Pair | None:
        """Whose answers are to be looked at: those chosen, else those of a recording that come first, or last live."""
        comparison = self.comparison
        if self.pair is not None or comparison is None or not comparison.runs:
            return self.pair
        return comparison.pairs[0 if self.loaded else -1]

    @property
    def comparison(self) -> Comparison | None:
        """The one on show."""
        return self.loaded or (self.comparing.progress().comparison if self.comparing else None)


class ComparePages:
    """All open pages; their comparisons wait in `in_turn`. Thread-safe."""

    def __init__(self, in_turn: InTurn) -> None:
        self._in_turn = in_turn
        self._pages: dict[str, ComparePage] = {}
        self._lock = threading.Lock()

    def get(self, page: str) -> ComparePage:
        """The page with this id, made when it is asked for first."""
        with self._lock:
            return self._pages.setdefault(page, ComparePage())

    def begin(self, page: str, make: Callable[[], Comparing], end_tokens: frozenset[int]) -> Comparing:
        """Queue a comparison, which takes the place of the page's last one.

        Raises `UserError` while that one runs, if too many wait, or as `make` does.
        """
        own = self.get(page)
        if own.busy:
            raise UserError(WORDS["compare.refuse.running"])
        comparing = make()
        self._in_turn.add(comparing)
        own.comparing, own.loaded, own.pair = comparing, None, None
        own.drawing = LanesDrawing(end_tokens)
        return comparing

    def show(self, page: str, comparison: Comparison) -> ComparePage:
        """Put a comparison from a file on show. Raises `UserError` while one runs."""
        own = self.get(page)
        if own.busy:
            raise UserError(WORDS["compare.refuse.running"])
        own.loaded, own.pair, own.drawing = comparison, None, LanesDrawing()
        return own

    def ahead(self, comparing: Comparing) -> int:
        """How many comparisons of others come before it."""
        return self._in_turn.ahead(comparing)

    def drop(self, page: str) -> None:
        """The page was closed: stop what it runs and keep nothing of it."""
        with self._lock:
            own = self._pages.pop(page, None)
        if own is not None and own.comparing is not None:
            own.comparing.stop()
