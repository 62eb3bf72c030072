"""Text into a visitor's own store: read and tokenized by a thread, watched by the page, cancelled at any time.

All of it is read before any of it is added, so that a cancelled or refused source leaves the store as it was.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sssd_demo.errors import UserError
from sssd_demo.sssd.documents import STDLIB, encode, read_documents
from sssd_demo.sssd.live_store import LiveStore
from sssd_demo.text import Text
from sssd_demo.ui.datastore_map import documents_text, tokens_text
from sssd_demo.ui.words import WORDS

logger = logging.getLogger(__name__)

MOST_TOKENS = 8_000_000  # at a time; a little more than the standard library
MOST_MEGABYTES = 16  # of text or files at a time
SEARCHABLE_WITHIN = 20.0  # seconds that are waited for the sorting before the page is told to go on

Read = Callable[[Callable[[float], None], Callable[[], bool]], Iterable[Sequence[int]]]  # of progress and cancelled
Phase = Literal["reading", "sorting", "done", "stopped"]


@dataclass(frozen=True)
class FillState:
    """How far it has come; `said` is one sentence for the page."""

    phase: Phase
    said: str

    @property
    def over(self) -> bool:
        return self.phase in ("done", "stopped")


def pasted(text: str, tokenizer: Text) -> Read:
    """One document: `text`. Raises `UserError` if it is too long."""
    _check_size(len(text.encode(errors="replace")))
    return lambda progress, cancelled: [encode(text, tokenizer)] if text.strip() else []


def uploaded(paths: Sequence[str], tokenizer: Text) -> Read:
    """The documents in files that a visitor sent. Raises `UserError` if they are too large together."""
    _check_size(sum(os.path.getsize(path) for path in paths))
    return lambda progress, cancelled: read_documents(paths, tokenizer, progress=progress, cancelled=cancelled)


def standard_library(tokenizer: Text) -> Read:
    """The modules of the running interpreter's own library."""
    return lambda progress, cancelled: read_documents([STDLIB], tokenizer, progress=progress, cancelled=cancelled)


def _check_size(size: int) -> None:
    if size > MOST_MEGABYTES * 10**6:
        raise UserError(WORDS["store.fill.too_big"].format(mb=size / 10**6, most=MOST_MEGABYTES))


class FillJob:
    """Adds what `read` gives to `store`. Begun at once; thread-safe."""

    def __init__(
        self, store: LiveStore, read: Read, what: str, *, uploads: Sequence[str] = (), most_tokens: int = MOST_TOKENS
    ) -> None:
        """`what` names the text for the visitor; the files `uploads` are deleted once they have been read."""
        self._store = store
        self._read = read
        self._what = what
        self._uploads = uploads
        self._most_tokens = most_tokens
        self._tokens = 0
        self._share = 0.0
        self._cancelled = threading.Event()
        self._over: FillState | None = None
        self._sorting = False
        self._thread = threading.Thread(target=self._run, name="fill-store", daemon=True)
        self._thread.start()

    def cancel(self) -> None:
        self._cancelled.set()

    def state(self) -> FillState:
        if self._over is not None:
            return self._over
        tokens = f"{self._tokens:,}"
        if self._sorting:
            return FillState("sorting", WORDS["store.fill.sorting"].format(tokens=tokens))
        said = WORDS["store.fill.reading"].format(what=self._what, share=self._share, tokens=tokens)
        return FillState("reading", said)

    def watch(self, every: float) -> Iterator[FillState]:
        """States as they change, looked at every so many seconds, until it is over."""
        while not (state := self.state()).over:
            yield state
            self._thread.join(every)
        yield state

    def _run(self) -> None:
        try:
            over = self._fill()
        except UserError as error:
            over = FillState("stopped", self._refusal(error))
        except Exception:
            logger.exception("text could not be added to a store")
            over = FillState("stopped", WORDS["refuse.fault"])
        finally:
            forget_files(self._uploads)  # before it is said to be over: who hears that may look for the files
        self._over = over

    def _fill(self) -> FillState:
        documents, whole = self._collect()
        if self._cancelled.is_set():
            return FillState("stopped", WORDS["store.fill.cancelled"])
        if not documents:
            return FillState("stopped", WORDS["store.fill.nothing"])
        self._sorting = True
        before = self._store.state().dropped
        for document in documents:
            self._store.append(document)
        searchable = self._store.wait(SEARCHABLE_WITHIN)
        self._store.settle(SEARCHABLE_WITHIN)  # only merging pushes old documents out
        dropped = self._store.state().dropped - before
        limits = self._store.limits
        key = "still_sorting" if not searchable else "dropped" if dropped else "done"
        said = WORDS[f"store.fill.{key}"].format(
            documents=documents_text(len(documents)),
            tokens=tokens_text(self._tokens),
            what=self._what,
            room=f"{limits.max_sub_indices * limits.max_tokens:,}",
            dropped=documents_text(dropped),
        )
        return FillState(
            "done", said if whole else said + WORDS["store.fill.cut"].format(most=f"{self._most_tokens:,}")
        )

    def _collect(self) -> tuple[list[NDArray], bool]:
        """The documents, compactly, and whether they are all there was."""
        kept: list[NDArray] = []
        for document in self._read(self._progress, self._cancelled.is_set):
            room = self._most_tokens - self._tokens
            if document:
                kept.append(np.asarray(document[:room], np.uint32))
                self._tokens += len(kept[-1])
            if len(document) >= room or self._cancelled.is_set():
                return kept, False
        return kept, True

    def _progress(self, share: float) -> None:
        self._share = share

    def _refusal(self, error: UserError) -> str:
        """The sentence without the folders that uploads happen to lie in."""
        reason = str(error)
        for path in self._uploads:
            reason = reason.replace(path, Path(path).name)
        return WORDS["store.fill.not_text"].format(reason=reason)


def forget_files(paths: Sequence[str]) -> None:
    """Delete files that were uploaded."""
    for path in paths:
        Path(path).unlink(missing_ok=True)


class FillJobs:
    """At most one job for each page. Thread-safe."""

    def __init__(self) -> None:
        self._jobs: dict[str, FillJob] = {}
        self._lock = threading.Lock()

    def begin(self, page: str, make: Callable[[], FillJob]) -> FillJob:
        """Raises `UserError` while the page's last job runs."""
        with self._lock:
            last = self._jobs.get(page)
            if last is not None and not last.state().over:
                raise UserError(WORDS["store.fill.busy"])
            self._jobs[page] = job = make()
            return job

    def get(self, page: str) -> FillJob | None:
        """The page's last job."""
        with self._lock:
            return self._jobs.get(page)

    def cancel(self, page: str) -> None:
        """Stop the page's job, if one runs."""
        job = self.get(page)
        if job is not None:
            job.cancel()

    def drop(self, page: str) -> None:
        """The page was closed: stop its job and forget it."""
        self.cancel(page)
        with self._lock:
            self._jobs.pop(page, None)
