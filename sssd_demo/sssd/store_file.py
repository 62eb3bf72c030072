"""A datastore as one file: written whole or not at all, and read with suspicion.

Layout, little-endian: magic, version, length of the header, header (JSON), digest of all that; then for each
sub-index its tokens and its suffix array, then the keys, tokens and probabilities of what was held likely
(`recycled_table.py`), each padded to a multiple of 64 bytes. The header holds the tokenizer's
fingerprint, the tokens' type, the counts (also of what was pushed out), and a digest of everything after it. Tokens
and suffix arrays are not read into memory but mapped.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from sssd_demo.errors import UserError
from sssd_demo.sssd.datastore import Datastore
from sssd_demo.sssd.recycled_table import KEY, PROBABILITY, WIDTH, RecycledTable
from sssd_demo.sssd.sub_index import SubIndex
from sssd_demo.whole_file import replacing

MAGIC = b"sssdstor"
VERSION = 2
_PREFIX = struct.Struct("<8sII")  # magic, version, bytes of header
_DIGEST_BYTES = 16
_ALIGNMENT = 64
_CHUNK_BYTES = 2**20
_POSITION = np.dtype(np.int32)
_TOKEN_DTYPES: dict[str, np.dtype] = {"uint16": np.dtype(np.uint16), "uint32": np.dtype(np.uint32)}


@dataclass(frozen=True)
class Header:
    """What a store file says about itself."""

    fingerprint: str  # of the tokenizer that made the ids
    dtype: np.dtype  # of the tokens
    sub_indices: tuple[tuple[int, int], ...]  # (positions, separators included; documents) of each
    checksum: str  # digest of what follows the header, hexadecimal
    bytes: int  # size of the whole file
    max_tokens: int  # positions in a sub-index
    sealed: int  # the oldest sub-indices, to which nothing is added any more
    dropped: int  # documents that were pushed out; the file's first document comes after them
    recycled: int  # places of which it is known what was likely there

    @property
    def documents(self) -> int:
        return sum(documents for _, documents in self.sub_indices)

    @property
    def tokens(self) -> int:
        return sum(positions for positions, _ in self.sub_indices) - self.documents


class SavingCancelled(Exception):
    """Somebody wanted a store's file not to be written after all."""


def save(datastore: Datastore, path: Path, cancelled: Callable[[], bool] = lambda: False) -> None:
    """Write `datastore` to `path`. Until it is complete and on the disk, what was there before stays.

    Raises `UserError` if the place cannot be written to, and `SavingCancelled` soon after `cancelled` says so.
    """
    try:
        with replacing(path) as file:
            _write(datastore, file, cancelled)
    except OSError as error:
        raise UserError(f"The datastore {path.stem} cannot be written: {error.strerror or error}.") from error


def load(path: Path, fingerprint: str | None = None) -> Datastore:
    """The datastore at `path`, mapped into memory after its digest has been checked.

    Raises `UserError` that names the store if it is missing, damaged, or not made by the tokenizer `fingerprint`
    (None: any).
    """
    with _opened(path) as file:
        header = _read_header(file, path)
        if fingerprint is not None and header.fingerprint != fingerprint:
            raise _unusable(
                path,
                f"it was built with another tokenizer ({header.fingerprint}) than this model's ({fingerprint})",
            )
        body = file.tell()
        if _digest_of_rest(file) != header.checksum:
            raise _unusable(path, "its contents are damaged: the checksum does not fit")
        if not header.sub_indices:
            return _described(header, (), None)
        mapped = np.memmap(file, np.uint8, mode="r")
    columns: list[NDArray] = []
    start = body
    for count, dtype in _layout(header):
        stop = start + count * dtype.itemsize
        columns.append(mapped[start:stop].view(dtype))
        start += _padded(stop - start)
    texts = iter(columns)
    sub_indices = tuple(SubIndex(next(texts), next(texts), documents) for _, documents in header.sub_indices)
    recycled = None
    if header.recycled:
        keys, tokens, probs = texts
        recycled = RecycledTable(keys, tokens.reshape(-1, WIDTH), probs.reshape(-1, WIDTH))
    return _described(header, sub_indices, recycled)


def read_header(path: Path) -> Header:
    """What the file at `path` says about itself; its contents are not checked. Raises `UserError` like `load`."""
    with _opened(path) as file:
        return _read_header(file, path)


def _layout(header: Header) -> Iterator[tuple[int, np.dtype]]:
    """How many entries of which type each column after the header has."""
    for positions, _ in header.sub_indices:
        yield positions, header.dtype
        yield positions, _POSITION
    if header.recycled:
        yield header.recycled, KEY
        yield header.recycled * WIDTH, header.dtype
        yield header.recycled * WIDTH, PROBABILITY


def _described(header: Header, sub_indices: tuple[SubIndex, ...], recycled: RecycledTable | None) -> Datastore:
    return Datastore(
        sub_indices, header.fingerprint, header.dtype, header.max_tokens, header.sealed, header.dropped, recycled
    )


def _write(datastore: Datastore, file: BinaryIO, cancelled: Callable[[], bool]) -> None:
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    for block in _blocks(datastore, cancelled):
        digest.update(block)
    header = {
        "tokenizer": datastore.fingerprint,
        "dtype": datastore.dtype.name,
        "sub_indices": [
            {"positions": len(sub_index.tokens), "documents": sub_index.documents}
            for sub_index in datastore.sub_indices
        ],
        "max_tokens": datastore.max_tokens,
        "sealed": datastore.sealed,
        "dropped": datastore.dropped,
        "recycled": len(datastore.recycled or ()),
        "checksum": digest.hexdigest(),
    }
    encoded = json.dumps(header).encode()
    # The body starts at a multiple of the alignment, so the header is filled up with spaces.
    encoded += b" " * (
        _padded(_PREFIX.size + len(encoded) + _DIGEST_BYTES) - _PREFIX.size - len(encoded) - _DIGEST_BYTES
    )
    head = _PREFIX.pack(MAGIC, VERSION, len(encoded)) + encoded
    file.write(head + _digest(head))
    for block in _blocks(datastore, cancelled):
        file.write(block)


def _blocks(datastore: Datastore, cancelled: Callable[[], bool]) -> Iterator[bytes | memoryview]:
    for column in _columns(datastore):
        content = column.reshape(-1).view(np.uint8).data
        for start in range(0, len(content), _CHUNK_BYTES):
            if cancelled():
                raise SavingCancelled
            yield content[start : start + _CHUNK_BYTES]
        yield bytes(_padded(column.nbytes) - column.nbytes)


def _columns(datastore: Datastore) -> Iterator[NDArray]:
    for sub_index in datastore.sub_indices:
        yield sub_index.tokens
        yield sub_index.suffixes
    if recycled := datastore.recycled:
        yield from (recycled.keys, recycled.tokens, recycled.probs)


def _read_header(file: BinaryIO, path: Path) -> Header:
    size = os.fstat(file.fileno()).st_size
    prefix = file.read(_PREFIX.size)
    if not prefix.startswith(MAGIC):
        raise _unusable(path, "it is empty" if not prefix else "it is not a datastore file")
    if len(prefix) < _PREFIX.size:
        raise _unusable(path, f"it was cut off after {size} bytes")
    _, version, header_length = _PREFIX.unpack(prefix)
    if version != VERSION:
        raise _unusable(path, f"it has format version {version}, but only version {VERSION} can be read")
    if _PREFIX.size + header_length + _DIGEST_BYTES > size:
        raise _unusable(path, f"it was cut off after {size} bytes, or its header is damaged")
    encoded = file.read(header_length)
    if file.read(_DIGEST_BYTES) != _digest(prefix + encoded):
        raise _unusable(path, "its header is damaged: the checksum does not fit")
    header = _parse_header(encoded, size, path)
    expected = file.tell() + sum(_padded(count * dtype.itemsize) for count, dtype in _layout(header))
    if size != expected:
        raise _unusable(path, f"it has {size:,} bytes instead of {expected:,}")
    return header


def _parse_header(encoded: bytes, size: int, path: Path) -> Header:
    try:
        data: dict[str, Any] = json.loads(encoded)
        return Header(
            fingerprint=data["tokenizer"],
            dtype=_TOKEN_DTYPES[data["dtype"]],
            sub_indices=tuple((entry["positions"], entry["documents"]) for entry in data["sub_indices"]),
            checksum=data["checksum"],
            bytes=size,
            max_tokens=data["max_tokens"],
            sealed=data["sealed"],
            dropped=data["dropped"],
            recycled=data["recycled"],
        )
    except (ValueError, KeyError, TypeError) as error:
        raise _unusable(path, "its header cannot be understood") from error


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise _unusable(path, f"its file cannot be read ({error.strerror or error})") from error


def _unusable(path: Path, problem: str) -> UserError:
    return UserError(f"The datastore {path.stem} cannot be used: {problem}.")


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()


def _digest_of_rest(file: BinaryIO) -> str:
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    while chunk := file.read(_CHUNK_BYTES):
        digest.update(chunk)
    return digest.hexdigest()


def _padded(length: int) -> int:
    return -(-length // _ALIGNMENT) * _ALIGNMENT
