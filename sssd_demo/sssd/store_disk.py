"""A live store's files: the store itself, its journal, and a lock so that only one process writes them.

The store's file holds the first documents, the journal all that came after; what both hold counts once. So whichever
of the two was written last before a crash, together they have every document.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from sssd_demo.errors import UserError
from sssd_demo.sssd import store_file
from sssd_demo.sssd.datastore import Datastore
from sssd_demo.sssd.journal import Journal
from sssd_demo.whole_file import remove_unfinished

JOURNAL_TOKENS = 2**16  # in the journal before the store's file is written anew, or…
JOURNAL_SHARE = 0.25  # …this part of the store, so that writing stays in proportion to what is appended


def journal_beside(path: Path) -> Path:
    """The journal of the live store at `path`."""
    return path.with_suffix(".journal")


class StoreDisk:
    """What is at `path` (`.journal` and `.lock` beside it), locked until `close`. Thread-safe.

    `missing` and `damage` are those of the `Journal`. Raises `UserError` if another process has the store open, or a
    file cannot be used.
    """

    def __init__(self, path: Path, *, fingerprint: str, dtype: np.dtype) -> None:
        self._path = path
        self._saving = threading.Lock()  # held while the store's file is written
        self._journalling = threading.Lock()  # held while the journal is
        self._closed = False
        # Any thread may close what another has opened.
        self._lock = FileLock(path.with_suffix(".lock"), thread_local=False)
        try:
            os.makedirs(path.parent, exist_ok=True)
            self._lock.acquire(timeout=0)
        except Timeout as error:
            raise UserError(f"The datastore {path.stem} is in use by another process.") from error
        except OSError as error:
            raise UserError(f"The datastore {path.stem} cannot be opened: {error.strerror or error}.") from error
        try:
            journal = journal_beside(path)
            for each in (path, journal):
                remove_unfinished(each)
            if not path.exists():
                store_file.save(Datastore((), fingerprint, dtype), path)
            self._found = store_file.load(path, fingerprint)
            covered = self._found.dropped + self._found.documents
            self._journal = Journal(journal, fingerprint=fingerprint, dtype=dtype, covered=covered)
        except BaseException:
            self._lock.release()
            raise
        self.missing = self._journal.missing
        self.damage = self._journal.damage

    def take(self) -> tuple[Datastore, Sequence[NDArray]]:
        """What the file held when it was opened, and the documents after it; they are not kept here, so ask once."""
        found = self._found, tuple(self._journal.documents)
        del self._found
        self._journal.documents.clear()
        return found

    def append(self, documents: Sequence[NDArray]) -> None:
        """Returns once `documents` are on the disk. Raises `UserError` like `Journal.append`."""
        with self._journalling:
            self._journal.append(documents)

    def save(self, datastore: Datastore, at_once: bool) -> bool:
        """Write the store's file anew and shorten the journal; False if there was no need, or the store was closed.

        There is need if the journal has grown, or `at_once`. Raises `UserError` and `OSError`; nothing is lost then.
        """
        with self._saving:
            due = max(JOURNAL_TOKENS, JOURNAL_SHARE * datastore.tokens)
            if self._closed or not (at_once or self._journal.tokens >= due):
                return False
            try:
                store_file.save(datastore, self._path, lambda: self._closed)
            except store_file.SavingCancelled:
                return False
            with self._journalling:
                self._journal.forget(datastore.dropped + datastore.documents)
            return True

    def close(self) -> None:
        """Let go of the files; nothing may be appended afterwards, and what is being saved is cancelled."""
        self._closed = True
        with self._saving, self._journalling:  # a file written after the lock is given up could undo another's work
            self._journal.close()
            self._lock.release()
