"""A live store's files: the store itself, its journal, and a lock so that only one process writes them.

The store's file holds the first documents, the journal all that came after; what both hold counts once. So whichever
of the two was written last before a crash, together they have every document.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
from filelock import FileLock, Timeout

from sssd_demo.errors import UserError
from sssd_demo.sssd import store_file
from sssd_demo.sssd.datastore import Datastore
from sssd_demo.sssd.durable_file import remove_unfinished
from sssd_demo.sssd.journal import Journal

JOURNAL_TOKENS = 2**16  # in the journal before the store's file is written anew, or…
JOURNAL_SHARE = 0.25  # …this part of the store, so that writing stays in proportion to what is appended


def journal_beside(path: Path) -> Path:
    """The journal of the live store at `path`."""
    return path.with_suffix(".journal")


class StoreDisk:
    """What is at `path` (`.journal` and `.lock` beside it), locked until `close`.

    `datastore` is what the file holds. Raises `UserError` if another process has the store open, or a file cannot be
    used.
    """

    def __init__(self, path: Path, *, fingerprint: str, dtype: np.dtype) -> None:
        self._path = path
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
            self.datastore = store_file.load(path, fingerprint)
            covered = self.datastore.dropped + self.datastore.documents
            self.journal = Journal(journal, fingerprint=fingerprint, dtype=dtype, covered=covered)
        except BaseException:
            self._lock.release()
            raise

    def is_due(self, tokens: int) -> bool:
        """Whether a store of `tokens` tokens should be written."""
        return self.journal.tokens >= max(JOURNAL_TOKENS, JOURNAL_SHARE * tokens)

    def save(self, datastore: Datastore, cancelled: Callable[[], bool]) -> None:
        """Write the store's file; the journal is not touched. Raises like `store_file.save`."""
        store_file.save(datastore, self._path, cancelled)

    def close(self) -> None:
        """Let go of the files; nothing may be appended or saved afterwards."""
        self.journal.close()
        self._lock.release()
