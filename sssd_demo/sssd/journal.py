"""Documents that are safe on the disk but not yet in a store's file: appended one by one, each with its own digest.

Layout, little-endian: magic, version, a line with the tokens' type and the tokenizer's fingerprint; then the records:
number of the document since the store's beginning, its length, a digest of these two, its ids, a digest of the ids.
A document is kept once its record is on the disk. A crash can cut off a record only before anybody was told that it
is kept; anything else that does not fit is damage.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Sequence
from contextlib import suppress
from io import FileIO
from itertools import count
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sssd_demo.errors import UserError
from sssd_demo.whole_file import replacing

MAGIC = b"sssdjrnl"
VERSION = 1
_COUNTS = struct.Struct("<QI")  # number of the document, its tokens
_DIGEST_BYTES = 8
_HEAD_BYTES = _COUNTS.size + _DIGEST_BYTES


class Journal:
    """The file at `path`, made if it is missing, beside a store that holds the first `covered` documents.

    `documents` are those that the store lacks. `missing` is how many are neither here nor there; `damage` says in a
    sentence what could not be read, or is None, and the file as it was is then kept under another name. Raises
    `UserError` if the file belongs to another tokenizer, or cannot be read or written. Not thread-safe.
    """

    def __init__(self, path: Path, *, fingerprint: str, dtype: np.dtype, covered: int) -> None:
        self.path = path
        self.documents: list[NDArray] = []
        self.missing = 0
        self.damage: str | None = None
        self._dtype = dtype
        self._head = MAGIC + struct.pack("<I", VERSION) + f"{dtype.name} {fingerprint}\n".encode()
        self._first = covered  # number of the first record
        self._starts: list[int] = []  # where each record begins
        self._end = len(self._head)
        try:
            self._file = self._open(covered)
        except OSError as error:
            raise self._unusable(f"its file cannot be read or written ({error.strerror or error})") from error

    @property
    def tokens(self) -> int:
        """About how many it holds."""
        return (self._end - len(self._head)) // self._dtype.itemsize

    @property
    def next_number(self) -> int:
        """How many documents there were since the store's beginning."""
        return self._first + len(self._starts)

    def append(self, documents: Sequence[NDArray]) -> None:
        """Returns once `documents` are on the disk. Raises `UserError` if they cannot be; then none of them counts."""
        records = [_record(self.next_number + n, ids.astype(self._dtype)) for n, ids in enumerate(documents)]
        try:
            self._file.truncate(self._end)
            self._file.seek(self._end)
            unwritten = memoryview(b"".join(records))
            while unwritten:
                unwritten = unwritten[self._file.write(unwritten) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            with suppress(OSError):  # if this fails as well, the next append begins with it
                self._file.truncate(self._end)
            raise UserError(f"The text cannot be kept in {self.path.name}: {error.strerror or error}.") from error
        for record in records:
            self._starts.append(self._end)
            self._end += len(record)

    def forget(self, covered: int) -> None:
        """Leave out the first `covered` documents, which the store's file holds by now. Raises `OSError`."""
        kept = self._starts[covered - self._first :]
        start = kept[0] if kept else self._end
        self._file.seek(start)
        rest = self._file.readall()
        with replacing(self.path) as file:
            file.write(self._head + rest)
            file.flush()
            renewed = FileIO(os.dup(file.fileno()), "r+")  # before the renaming: there is always a file to append to
        self._file.close()
        self._file = renewed
        moved = start - len(self._head)
        self._starts = [place - moved for place in kept]
        self._end -= moved
        self._first = covered

    def close(self) -> None:
        self._file.close()

    def _open(self, covered: int) -> FileIO:
        if not self.path.exists():
            self._write_new()
        content = self.path.read_bytes()
        if not content.startswith(self._head):
            known = content.startswith(self._head[: len(MAGIC)])
            raise self._unusable(
                "it was written for another tokenizer, or by another version" if known else "it is not a journal"
            )
        damaged = self._read(content)
        if damaged:
            self._put_aside(content)
        if self._starts:
            self._compare(content, covered)
        file = FileIO(self.path, "r+")
        file.truncate(self._end)
        os.fsync(file.fileno())
        return file

    def _read(self, content: bytes) -> bool:
        """Find the records of `content`; tells whether what comes after them is damaged, not only cut off."""
        while (place := self._end) < len(content):
            head = content[place : place + _HEAD_BYTES]
            if len(head) < _HEAD_BYTES:
                return False
            if head[_COUNTS.size :] != _digest(head[: _COUNTS.size]):
                return True
            number, length = _COUNTS.unpack_from(head)
            stop = place + _HEAD_BYTES + length * self._dtype.itemsize
            if stop + _DIGEST_BYTES > len(content):
                return False
            ids = content[place + _HEAD_BYTES : stop]
            in_order = not self._starts or number == self.next_number
            if content[stop : stop + _DIGEST_BYTES] != _digest(ids) or not in_order:
                return True
            if not self._starts:
                self._first = number
            self._starts.append(place)
            self._end = stop + _DIGEST_BYTES
        return False

    def _compare(self, content: bytes, covered: int) -> None:
        """Take in the documents that the store lacks."""
        if self.next_number < covered:  # some were lost here that are safe there: begin anew
            self._first, self._starts, self._end = covered, [], len(self._head)
        self.missing = max(0, self._first - covered)
        for place in self._starts[max(0, covered - self._first) :]:
            _, length = _COUNTS.unpack_from(content, place)
            self.documents.append(np.frombuffer(content, self._dtype, length, place + _HEAD_BYTES))

    def _put_aside(self, content: bytes) -> None:
        places = (self.path.with_name(f"{self.path.name}.damaged-{n}") for n in count(1))
        aside = next(place for place in places if not place.exists())  # one that was put aside before stays
        with replacing(aside) as file:
            file.write(content)
        self.damage = (
            f"The journal {self.path.name} is damaged after {self._end:,} of its {len(content):,} bytes; what comes "
            f"before was kept, and the file as it was is now {aside.name}."
        )

    def _write_new(self) -> None:
        with replacing(self.path) as file:
            file.write(self._head)

    def _unusable(self, problem: str) -> UserError:
        return UserError(f"The journal {self.path.name} cannot be used: {problem}.")


def _record(number: int, ids: NDArray) -> bytes:
    counts = _COUNTS.pack(number, len(ids))
    content = ids.tobytes()
    return counts + _digest(counts) + content + _digest(content)


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).digest()
