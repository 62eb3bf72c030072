"""The datastores of one folder by name: found, opened once, replaced whole."""

from __future__ import annotations

import logging
import os
import re
from dataclasses import dataclass
from pathlib import Path

from sssd_demo.errors import UserError
from sssd_demo.folders import data_folder
from sssd_demo.sssd import store_file
from sssd_demo.sssd.datastore import Datastore
from sssd_demo.sssd.store_file import Header

logger = logging.getLogger(__name__)

SUFFIX = ".store"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_RESERVED = "none"  # how a command says that it wants no store


def default_folder() -> Path:
    """Where a user's stores are kept. It need not exist yet."""
    return data_folder() / "stores"


@dataclass(frozen=True)
class _Opened:
    version: tuple[int, int, int]  # changes when the file is replaced
    datastore: Datastore


class Stores:
    """Datastores in `folder`; with a `fingerprint`, only those made by that tokenizer can be opened.

    Any thread may use it: a store is immutable, and two threads that open the same one at once get equal ones.
    """

    def __init__(self, folder: Path, fingerprint: str | None = None) -> None:
        self._folder = folder
        self._fingerprint = fingerprint
        self._opened: dict[str, _Opened] = {}

    def names(self) -> list[str]:
        """All stores that are there, in alphabetical order, usable or not."""
        return sorted(path.stem for path in self._folder.glob(f"*{SUFFIX}") if _NAME.fullmatch(path.stem))

    def open(self, name: str) -> Datastore:
        """The store called `name`, read again only if its file was replaced.

        If the new file cannot be used, the version that is open stays in use. Raises `UserError` for an unknown
        name (listing the known ones) or a store that cannot be used (saying why).
        """
        path = self._existing(name)
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
        return store_file.read_header(self._existing(name))

    def save(self, name: str, datastore: Datastore) -> Path:
        """Keep `datastore` as `name`, in place of one that is there. Raises `UserError` if it cannot be written."""
        path = self.path(name)
        try:
            os.makedirs(self._folder, exist_ok=True)
        except OSError as error:
            raise UserError(f"The folder {self._folder} cannot be created: {error.strerror or error}.") from error
        store_file.save(datastore, path)
        return path

    def path(self, name: str) -> Path:
        """The file of the store `name`, there or not. Raises `UserError` if no store can be called that."""
        if not _NAME.fullmatch(name) or name.lower() == _RESERVED:
            raise UserError(
                f"A datastore cannot be called {name!r}: a name has 1 to 64 letters, digits, - or _, starts with a "
                f"letter or digit, and is not {_RESERVED!r}."
            )
        return self._folder / f"{name}{SUFFIX}"

    def _existing(self, name: str) -> Path:
        path = self.path(name)
        if not path.is_file():
            known = ", ".join(self.names()) or "none yet"
            raise UserError(f"There is no datastore {name!r}; the known ones are: {known}.")
        return path
