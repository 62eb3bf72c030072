"""A file that is replaced as a whole or not at all, and is there after a crash once it is."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO

_UNFINISHED = ".unfinished"
_OWNER_ONLY = 0o600
AS_USUAL = 0o666  # less what the process's umask takes away


def write_whole(path: Path, content: str) -> None:
    """Write `content` to `path` as UTF-8, readable like any new file. Raises `OSError`, and leaves nothing then."""
    with replacing(path, mode=AS_USUAL) as file:
        file.write(content.encode())


def check_place(path: Path) -> None:
    """Raise the `OSError` that `write_whole` would raise now, for those who first have to work for the content."""
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    unfinished = _unfinished_name(path)
    os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _OWNER_ONLY))
    unfinished.unlink()


@contextmanager
def replacing(path: Path, mode: int = _OWNER_ONLY) -> Iterator[BinaryIO]:
    """A file to write, which takes the place of `path` when the block ends, and is then on the disk.

    Until that moment, and if the block fails, what was there before stays. Raises `OSError`.
    """
    unfinished = _unfinished_name(path)
    with open(unfinished, "x+b", opener=partial(os.open, mode=mode)) as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            file.close()
            os.replace(unfinished, path)
        except BaseException:
            file.close()
            unfinished.unlink(missing_ok=True)
            raise
    _sync_folder(path.parent)


def _unfinished_name(path: Path) -> Path:
    """A name of its own: another thread or process may be writing the same file."""
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}{_UNFINISHED}")


def unfinished_in(folder: Path) -> set[Path]:
    """Those files in `folder` that somebody is replacing, or was when he was killed."""
    return {folder / left.name[1:].rsplit(".", 2)[0] for left in folder.glob(f".*.*{_UNFINISHED}")}


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
