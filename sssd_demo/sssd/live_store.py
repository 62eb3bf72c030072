"""A datastore that grows while it is used: documents are appended, indexed in the background, pushed out at last.

Queries read `sub_indices`, an immutable snapshot, and never wait. A new document is indexed by itself within
milliseconds, whatever else is going on; another thread merges sub-indices (see `merging.py`), and with a path also
keeps them in a file. What is not in that file yet is in a journal beside it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sssd_demo.errors import UserError
from sssd_demo.sssd.datastore import Datastore, capacity, pieces, token_dtype
from sssd_demo.sssd.merging import DEFAULT_LIMITS, Limits, merge_from
from sssd_demo.sssd.recycled import Recycled
from sssd_demo.sssd.sorting import affordable, indexed, step_back
from sssd_demo.sssd.store_disk import StoreDisk
from sssd_demo.sssd.store_parts import Part, Parts, amount, replaced, segments
from sssd_demo.sssd.store_state import EventKind, StoreEvent, StoreState
from sssd_demo.sssd.sub_index import SubIndex, cut, joined
from sssd_demo.trace import Top

logger = logging.getLogger(__name__)

PROMPT_TOKENS = 3  # of the prompt that lead into a conversation's document (authors of arXiv 2411.05894)
KEPT_EVENTS = 100
BATCH_TOKENS = 2**20  # indexed at once when much was appended at once: the first of it is searchable soon
MOST_UNMERGED = 12  # sub-indices; so many come together first when much was appended at once, to be merged only once


class LiveStore:
    """Documents of ids below `vocab_size`, made by the tokenizer `fingerprint`. Thread-safe.

    With a `path`, whatever `append` has returned for is there again after a kill at any moment (`benchmarks/kills.py`;
    it was also handed to the disk with fsync, but no power was cut to try that). Raises `UserError` if the file or its
    journal cannot be used, or another process has it open. `clock` counts seconds.
    """

    def __init__(
        self,
        *,
        fingerprint: str,
        vocab_size: int,
        limits: Limits = DEFAULT_LIMITS,
        path: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.fingerprint = fingerprint
        self.vocab_size = vocab_size
        self.limits = limits
        self.dtype = token_dtype(vocab_size)
        self._capacity = capacity(limits.max_tokens, self.dtype)
        self._clock = clock
        self._recycled = Recycled(limits.max_places)
        self._appending = threading.Lock()  # one document after another, also on the disk
        self._changed = threading.Condition()  # guards all that follows
        self._parts: Parts = ()
        self._sub_indices: tuple[SubIndex, ...] = ()
        self._waiting: deque[NDArray] = deque()  # each with its separator, so that joining them is one quick step
        self._dropped = 0
        self._reserved: Part | None = None  # the tail that is being built anew, so that no merge takes it
        self._merging: Parts = ()
        self._workers: dict[str, threading.Thread] = {}
        self._problems: dict[str, str] = {}
        self._events: deque[StoreEvent] = deque(maxlen=KEPT_EVENTS)
        self._closed = False
        self._disk: StoreDisk | None = None
        if path is not None:
            self._open(path)

    @property
    def sub_indices(self) -> tuple[SubIndex, ...]:
        """What is searchable now, oldest first: a snapshot that stays as it is. Reading it never waits."""
        return self._sub_indices

    def recycled(self) -> Recycled:
        """What it knows now of what the target held likely: a copy that stays as it is."""
        with self._appending:
            return self._recycled.copy()

    def recalled(self, tokens: tuple[int, ...]) -> Top | None:
        """What the target held likely after these one or two tokens, as far as `append` was told."""
        return self._recycled.after(tokens)

    def append(self, document: ArrayLike, top: Sequence[Top] = ()) -> None:
        """Add `document`; with a path, returns once it is on the disk. It is searchable soon after.

        `top` is what the target held likely at its last tokens; a store with a path does not take it, so that it is the
        same after a restart. A document longer than a sub-index is cut; an empty one is left out. Raises `ValueError`
        for an id out of range, and `UserError` if it cannot be kept or the store is closed.
        """
        parts = list(pieces([document], self.vocab_size, self._capacity - 1))
        if not parts:
            return
        with self._appending:
            if self._closed:
                raise UserError("This datastore is closed.")
            if self._disk is not None:
                self._disk.append(parts)
            elif top:
                self._recycled.learn(np.asarray(document).tolist(), top)
            with self._changed:
                self._waiting.extend(joined([part], self.dtype) for part in parts)
                self._start("index", self._index_waiting)

    def state(self) -> StoreState:
        """How the store is doing now."""
        with self._changed:
            tokens, documents = amount(self._parts)
            return StoreState(
                segments=segments(self._parts, self.limits.tail_tokens),
                tokens=tokens,
                documents=documents,
                waiting=len(self._waiting),
                dropped=self._dropped,
                building=bool(self._workers),
                problem=next(iter(self._problems.values()), None),
                events=tuple(self._events),
            )

    def wait(self, timeout: float | None = None) -> bool:
        """True once all that was appended is searchable; False after `timeout` seconds, or if it cannot be built."""
        with self._changed:
            self._changed.wait_for(lambda: not self._waiting or "index" not in self._workers, timeout)
            return not self._waiting

    def settle(self, timeout: float | None = None) -> bool:
        """True once nothing is being built, merged or saved any more; False after `timeout` seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._workers, timeout)

    def close(self) -> None:
        """Take no more documents, and let go of the files. What is being built is finished and thrown away."""
        with self._appending, self._changed:
            closed, self._closed = self._closed, True
        if self._disk is not None and not closed:
            self._disk.close()

    def _open(self, path: Path) -> None:
        self._disk = disk = StoreDisk(path, fingerprint=self.fingerprint, dtype=self.dtype)
        kept, unsaved = disk.take()
        with self._changed:
            self._dropped = kept.dropped + disk.missing
            self._replace((), tuple(Part(each, n < kept.sealed) for n, each in enumerate(kept.sub_indices)))
            if disk.damage:
                logger.warning("%s", disk.damage)
                self._problems["open"] = disk.damage
            if unsaved:
                self._waiting.extend(joined([each], self.dtype) for each in unsaved)
                self._start("index", self._index_waiting)

    # Two workers, each a thread that ends when it has nothing left to do.

    def _start(self, name: str, work: Callable[[], None]) -> None:
        if name not in self._workers:
            self._workers[name] = threading.Thread(target=work, name=f"store {name}", daemon=True)
            self._workers[name].start()

    def _stop(self, name: str) -> None:
        del self._workers[name]
        self._changed.notify_all()

    def _index_waiting(self) -> None:
        """Make documents searchable that are not, together with the newest sub-index if that is small."""
        while True:
            with self._changed:
                batch = self._batch()
                if not batch or self._closed:
                    self._stop("index")
                    return
                tail = self._tail_to_join(sum(map(len, batch)))
                self._reserved = tail
            started = self._clock()
            try:
                texts = batch if tail is None else [tail.sub_index.tokens, *batch]
                built = Part(indexed(np.concatenate(texts)))
            except Exception as error:
                with self._changed:
                    self._reserved = None
                    self._give_up("index", error, () if tail is None else (tail,), started)
                    self._merge_if_due()
                return
            with self._changed:
                self._reserved = None
                for _ in batch:
                    self._waiting.popleft()
                self._replace(() if tail is None else (tail,), (built,))
                self._problems.pop("index", None)
                self._note("built", (built,), started)
                self._merge_if_due()
                self._changed.notify_all()

    def _merge(self) -> None:
        """Merge, push out, save, until there is nothing to do."""
        step_back()
        while True:
            with self._changed:
                parts = self._to_merge()
                if not parts or self._closed:
                    self._stop("merge")
                    return
                self._merging = parts
            started = self._clock()
            try:
                runs = cut(np.concatenate([part.sub_index.tokens for part in parts]), self._capacity)
                merged = tuple(Part(indexed(run), full=run is not runs[-1]) for run in runs)
            except Exception as error:
                with self._changed:
                    self._merging = ()
                    self._give_up("merge", error, parts, started)
                return
            with self._changed:
                self._merging = ()
                self._replace(parts, merged)
                self._problems.pop("merge", None)
                self._note("merged", merged, started)
                dropped = self._drop_oldest()
                self._changed.notify_all()
            self._save_if_due(at_once=dropped)

    def _save_if_due(self, at_once: bool) -> None:
        if self._disk is None:
            return
        with self._changed:
            parts, snapshot = self._parts, self._snapshot()
        started = self._clock()
        try:
            saved = self._disk.save(snapshot, at_once)
        except Exception as error:
            logger.warning("A datastore could not be saved: %s", error)
            with self._changed:
                self._problems["save"] = str(error)
                self._note("failed", parts, started, str(error))
            return
        if saved:
            with self._changed:
                self._problems.pop("save", None)
                self._note("saved", parts, started)

    # What follows is called with the lock held.

    def _snapshot(self) -> Datastore:
        sealed = sum(part.full for part in self._parts)
        return Datastore(self._sub_indices, self.fingerprint, self.dtype, self.limits.max_tokens, sealed, self._dropped)

    def _batch(self) -> list[NDArray]:
        """The next documents to index, as many as make a part of a sub-index, at least one."""
        batch: list[NDArray] = []
        room = min(BATCH_TOKENS, self._capacity)
        for document in self._waiting:
            room -= len(document)
            if batch and room < 0:
                break
            batch.append(document)
        return batch

    def _tail_to_join(self, new: int) -> Part | None:
        tail = self._parts[-1] if self._parts else None
        if tail is None or tail.full or tail in self._merging or len(tail) + new > self.limits.tail_tokens:
            return None
        return tail

    def _to_merge(self) -> Parts:
        """The newest parts that should become one, now or as soon as no other merge is running."""
        growing = [part for part in self._parts if not part.full and part is not self._reserved]
        more_to_come = self._waiting and "index" in self._workers and len(growing) <= MOST_UNMERGED
        if self._merging or more_to_come:
            return ()
        start = merge_from([len(part) for part in growing], affordable(self.dtype))
        return () if start is None else tuple(growing[start:])

    def _merge_if_due(self) -> None:
        if self._to_merge():
            self._start("merge", self._merge)

    def _replace(self, old: Parts, new: Parts) -> None:
        """One swap for all who search."""
        self._parts = replaced(self._parts, old, new)
        self._sub_indices = tuple(part.sub_index for part in self._parts)

    def _drop_oldest(self) -> bool:
        surplus = sum(part.full for part in self._parts) - self.limits.max_sub_indices
        for part in self._parts[: max(0, surplus)]:
            self._replace((part,), ())
            self._dropped += part.sub_index.documents
            self._note("dropped", (part,), self._clock())
        return surplus > 0

    def _note(self, kind: EventKind, parts: Sequence[Part], started: float, reason: str = "") -> None:
        now = self._clock()
        self._events.append(StoreEvent(now, kind, *amount(parts), now - started, reason))

    def _give_up(self, worker: str, error: Exception, parts: Sequence[Part], started: float) -> None:
        """What was searchable still is, and the next document starts the worker again."""
        reason = str(error) or type(error).__name__
        logger.warning("A datastore's worker (%s) failed: %s", worker, reason)
        self._problems[worker] = reason
        self._note("failed", parts, started, reason)
        self._stop(worker)


def conversation_document(prompt: Sequence[int], output: Sequence[int]) -> list[int]:
    """What a store learns from an answer: what the model wrote, after the last few tokens that led to it."""
    return [*prompt[-PROMPT_TOKENS:], *output]
