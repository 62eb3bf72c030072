"""Datastores by name, a user's and those that come with the project: found, opened once, replaced whole."""

from __future__ import annotations

import logging
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout

from sssd_demo.errors import UserError
from sssd_demo.folders import data_folder
from sssd_demo.sssd import store_file
from sssd_demo.sssd.datastore import Datastore
from sssd_demo.sssd.live_store import LiveStore
from sssd_demo.sssd.store_file import Header
from sssd_demo.store_names import SHARED
from sssd_demo.whole_file import remove_unfinished, unfinished_in

logger = logging.getLogger(__name__)

SUFFIX = ".store"
LIVE_SUFFIX = ".live"  # never found by name
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_RESERVED = "none"  # how a command says that it wants no store


def default_folder() -> Path:
    """Where a user's stores are kept. It need not exist yet."""
    return data_folder() / "stores"


def shipped_folder() -> Path | None:
    """Where the stores are that come with the project; None if it was installed without them."""
    folder = Path(__file__).resolve().parents[1] / "datastores"
    return folder if folder.is_dir() else None


@dataclass(frozen=True)
class _Opened:
    version: tuple[int, int, int]  # changes when the file is replaced
    datastore: Datastore


class Stores:
    """The user's datastores in `folder` and the ones in `shipped`; of two with the same name, the user's is meant.

    With a `fingerprint`, only those made by that tokenizer can be opened. Any thread may use it: a store is
    immutable, and two threads that open the same one at once get equal ones.
    """

    def __init__(
        self,
        folder: Path,
        fingerprint: str | None = None,
        *,
        shipped: Path | None = None,
        vocab_size: int | None = None,
    ) -> None:
        """`vocab_size` is needed for the shared store only."""
        self._folder = folder
        self._fingerprint = fingerprint
        self._shipped = shipped
        self._vocab_size = vocab_size
        self._opened: dict[str, _Opened] = {}
        self._shared: LiveStore | None = None
        self._opening_shared = threading.Lock()

    @classmethod
    def usual(cls, fingerprint: str | None = None, vocab_size: int | None = None) -> Stores:
        """Those that a user of this machine sees."""
        return cls(default_folder(), fingerprint, shipped=shipped_folder(), vocab_size=vocab_size)

    def names(self) -> list[str]:
        """All stores that are there, in alphabetical order, usable or not."""
        folders = (folder for folder in (self._folder, self._shipped) if folder is not None and os.path.isdir(folder))
        paths = (path for folder in folders for path in folder.glob(f"*{SUFFIX}"))
        return sorted({path.stem for path in paths if _NAME.fullmatch(path.stem) and _is_file(path)})

    def usable_names(self) -> list[str]:
        """Those of `names` whose file says that this tokenizer made it; its contents are not checked."""
        return [name for name in self.names() if self._fits(name)]

    def _fits(self, name: str) -> bool:
        try:
            return self._fingerprint in (None, self.header(name).fingerprint)
        except UserError:
            return False

    def open(self, name: str) -> Datastore:
        """The store called `name`, read again only if its file was replaced.

        If the new file cannot be used, the version that is open stays in use. Raises `UserError` for an unknown
        name (listing the known ones) or a store that cannot be used (saying why).
        """
        path = self.file(name)
        state = path.stat()
        version = (state.st_ino, state.st_mtime_ns, state.st_size)
        before = self._opened.get(name)
        if before is not None and before.version == version:
            return before.datastore
        try:
            datastore = store_file.load(path, self._fingerprint)
        except UserError as error:
            if before is None:
                raise
            logger.warning("%s The version opened before stays in use.", error)
            return before.datastore
        self._opened[name] = _Opened(version, datastore)
        return datastore

    def header(self, name: str) -> Header:
        """What the store's file says about itself. Raises `UserError` like `open`."""
        return store_file.read_header(self.file(name))

    def shared(self) -> LiveStore:
        """The one store that all visitors may feed, opened when it is first asked for; its text is for nobody's eyes.

        There is one for each tokenizer. Raises `UserError` if it cannot be used, or another process has it open.
        """
        if self._fingerprint is None or self._vocab_size is None:
            raise RuntimeError("a shared store needs the tokenizer's fingerprint and the size of its vocabulary")
        with self._opening_shared:
            if self._shared is None:
                self._shared = LiveStore(
                    fingerprint=self._fingerprint, vocab_size=self._vocab_size, path=self.shared_path()
                )
            return self._shared

    def shared_header(self) -> Header:
        """What the shared store's file says about itself, also while another process has it open.

        Raises `UserError` if nobody has ever opened it, or the file cannot be used.
        """
        return store_file.read_header(self.shared_path())

    def shared_path(self) -> Path:
        """The shared store's file, there or not; its journal is beside it."""
        return self._folder / f"{SHARED}-{self._fingerprint}{LIVE_SUFFIX}"

    def remove(self, name: str) -> None:
        """Delete the user's store `name`. Raises `UserError` for an unknown one, or one that is shipped."""
        path = self.file(name)
        if self.is_shipped(name):
            raise UserError(f"The datastore {name} comes with the project and cannot be removed.")
        with self.changing(name):
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise UserError(f"The datastore {name} cannot be removed: {error.strerror or error}.") from error
        self._opened.pop(name, None)

    def is_shipped(self, name: str) -> bool:
        """Whether `name` means a store that comes with the project. Raises `UserError` like `open`."""
        return self.file(name).parent == self._shipped

    def close(self) -> None:
        """Let go of the shared store, so that another process can open it."""
        with self._opening_shared:
            if self._shared is not None:
                self._shared.close()

    @contextmanager
    def changing(self, name: str) -> Iterator[None]:
        """Nobody else who asks likewise changes the store meanwhile; waits for whoever does.

        What those who were killed meanwhile have left is removed. Raises `UserError` if the folder cannot be written
        to.
        """
        lock = _lock(self.path(name))
        try:
            os.makedirs(self._folder, exist_ok=True)
            self._remove_unfinished()
            lock.acquire()
        except OSError as error:
            raise UserError(f"The folder {self._folder} cannot be written to: {error.strerror or error}.") from error
        try:
            yield
        finally:
            lock.release()

    def _remove_unfinished(self) -> None:
        """Of all stores that nobody is changing now."""
        for path in unfinished_in(self._folder):
            if path.suffix == SUFFIX:
                with suppress(Timeout), _lock(path).acquire(timeout=0):
                    remove_unfinished(path)

    def save(self, name: str, datastore: Datastore) -> Path:
        """Keep `datastore` as `name`, in place of one that is there; see `changing` for when others may do the same.

        Raises `UserError` if it cannot be written.
        """
        path = self.path(name)
        try:
            os.makedirs(self._folder, exist_ok=True)
        except OSError as error:
            raise UserError(f"The folder {self._folder} cannot be created: {error.strerror or error}.") from error
        store_file.save(datastore, path)
        return path

    def path(self, name: str) -> Path:
        """The user's file of the store `name`, there or not. Raises `UserError` if no store can be called that."""
        if not _NAME.fullmatch(name) or name.lower() == _RESERVED:
            raise UserError(
                f"A datastore cannot be called {name!r}: a name has 1 to 64 letters, digits, - or _, starts with a "
                f"letter or digit, and is not {_RESERVED!r}."
            )
        return self._folder / f"{name}{SUFFIX}"

    def file(self, name: str) -> Path:
        """Where the store `name` is. Raises `UserError` for an unknown one, listing the known ones."""
        path = self.path(name)
        if _is_file(path):
            return path
        if self._shipped is not None and _is_file(shipped := self._shipped / path.name):
            return shipped
        known = ", ".join(self.names()) or "none yet"
        raise UserError(f"There is no datastore {name!r}; the known ones are: {known}.")


def _is_file(path: Path) -> bool:
    """Unlike `Path.is_file`, false and no error where the folder cannot be looked into."""
    return os.path.isfile(path)


def _lock(path: Path) -> BaseFileLock:
    """What whoever changes the store at `path` holds meanwhile."""
    return FileLock(path.with_suffix(".lock"))
