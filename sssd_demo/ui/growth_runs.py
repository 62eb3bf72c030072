"""Who is watching which run: at most one for each visitor, and a few at a time for the whole server."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from sssd_demo.errors import UserError
from sssd_demo.questions import read_questions
from sssd_demo.ui.growth_run import OVER, GrowthRun
from sssd_demo.ui.words import WORDS

MOST_RUNNING = 3  # at a time; each keeps one row of the engine busy
MOST_CONVERSATIONS = 200
_ROOT = Path(__file__).parents[2]
# The first that is there; the second has a few questions only.
PROMPT_FILES = (_ROOT / "datastores" / "prompts.jsonl", _ROOT / "benchmarks" / "questions.jsonl")


class GrowthRuns:
    """All runs, found by the id of the page that watches. Thread-safe."""

    def __init__(self, most_running: int = MOST_RUNNING) -> None:
        self._most_running = most_running
        self._runs: dict[str, GrowthRun] = {}
        self._lock = threading.Lock()

    def get(self, page: str) -> GrowthRun | None:
        with self._lock:
            return self._runs.get(page)

    def play(self, page: str, begin: Callable[[], GrowthRun]) -> GrowthRun:
        """Let the page's run go on, or `begin` one. Raises `UserError` while too many others are running."""
        with self._lock:
            others = sum(
                other != page and run.state().phase in ("running", "pausing") for other, run in self._runs.items()
            )
            if others >= self._most_running:
                raise UserError(WORDS["store.run.too_many"].format(n=others))
            run = self._runs.get(page)
            if run is not None and run.state().phase not in OVER:
                run.resume()
                return run
            new = self._runs[page] = begin()
        if run is not None:
            run.stop()  # it has ended, but its store is kept until then
        return new

    def drop(self, page: str) -> None:
        """Stop the page's run and forget it: the page was closed, or starts over."""
        with self._lock:
            run = self._runs.pop(page, None)
        if run is not None:
            run.stop()


def prompts(files: tuple[Path, ...] = PROMPT_FILES) -> list[str]:
    """What the run asks, none of it twice. Raises `UserError` if no file of prompts can be read."""
    path = next((path for path in files if path.is_file()), files[-1])
    try:
        found = [question.turns[0] for question in read_questions(path)]
    except UserError as error:
        raise UserError(WORDS["store.run.no_prompts"].format(reason=error)) from error
    return list(dict.fromkeys(found))[:MOST_CONVERSATIONS]
