"""Tens of millions of tokens of real text, from what any machine with this project has: its own files.

Python's standard library, the sources and documents of the installed packages, and the system's documentation, each
file once and whole. Files of one folder stay together, the folders come in a random order: text comes with its like, as
it does from one kind of user. The tokens are kept in the cache folder, since making them takes minutes.
"""

from __future__ import annotations

import hashlib
import os
import random
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sssd_demo.folders import cache_folder
from sssd_demo.sssd.documents import encode
from sssd_demo.text import Text

SUFFIXES = frozenset({".py", ".pyi", ".md", ".rst", ".txt"})
SHORTEST, LONGEST = 1_000, 500_000  # bytes of a file: what is shorter says little, what is longer is mostly tables
SEED = 0


def real_text(text: Text, tokens: int) -> list[NDArray[np.uint32]]:
    """Documents of ids of together at least `tokens` tokens, or all there are if that is less."""
    kept = cache_folder() / "benchmarks" / f"real-text-{text.fingerprint}-{tokens}.npz"
    if kept.is_file():
        with np.load(kept) as arrays:
            return np.split(arrays["ids"], arrays["ends"][:-1])
    documents: list[NDArray[np.uint32]] = []
    total = 0
    for content in _contents():
        documents.append(np.array(encode(content, text), np.uint32))
        total += len(documents[-1])
        if total >= tokens:
            break
    os.makedirs(kept.parent, exist_ok=True)
    unfinished = kept.with_suffix(f".{os.getpid()}.npz")
    np.savez(unfinished, ids=np.concatenate(documents), ends=np.cumsum([len(ids) for ids in documents]))
    unfinished.replace(kept)
    return documents


def _contents() -> Iterator[str]:
    seen: set[bytes] = set()
    for path in _paths():
        try:
            content = path.read_bytes()
            written = content.decode()
        except (OSError, UnicodeDecodeError):
            continue
        digest = hashlib.sha256(content).digest()
        if digest not in seen and "\0" not in written:
            seen.add(digest)
            yield written


def _paths() -> Iterator[Path]:
    folders: dict[Path, list[Path]] = {}
    for root in (sys.prefix, sysconfig.get_path("stdlib"), "/usr/share"):
        for folder, _, names in os.walk(root):
            paths = (Path(folder, name) for name in sorted(names) if os.path.splitext(name)[1] in SUFFIXES)
            folders[Path(folder)] = [
                path for path in paths if path.is_file() and SHORTEST <= path.stat().st_size <= LONGEST
            ]
    order = sorted(folders)
    random.Random(SEED).shuffle(order)
    for folder in order:
        yield from folders[folder]
