"""A file that is replaced as a whole, and is there after a crash once it is."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

_UNFINISHED = ".unfinished"


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write, which takes the place of `path` when the block ends, and is then on the disk.

    Until that moment, and if the block fails, what was there before stays. Raises `OSError`.
    """
    descriptor, unfinished = tempfile.mkstemp(prefix=f".{path.name}.", suffix=_UNFINISHED, dir=path.parent)
    try:
        with open(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    except BaseException:
        Path(unfinished).unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def remove_unfinished(path: Path) -> None:
    """Delete what a process that was killed while it replaced `path` has left; nobody may be replacing it now."""
    for left in path.parent.glob(f".{path.name}.*{_UNFINISHED}"):
        left.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Make the renaming itself last; not every platform lets a folder be opened, or synchronised."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
