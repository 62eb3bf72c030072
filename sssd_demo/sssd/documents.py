"""What a datastore can be built from → documents of token ids.

A source is a text file (.txt, .md, .py, or anything else that is UTF-8 text), a file of recorded answers (.jsonl), a
trace, a folder of these, or the word `stdlib`: the running interpreter's standard library. Of an answer or a trace
only what the model wrote becomes a document. A blank file is none.
"""

from __future__ import annotations

import json
import os
import re
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from sssd_demo import trace_file
from sssd_demo.errors import UserError
from sssd_demo.sssd.recorded_answers import EmptyFileError, named_as_answers, read_recorded_answers
from sssd_demo.sssd.recycled import Recycled
from sssd_demo.trace import Trace

STDLIB = "stdlib"
TEXT_SUFFIXES = frozenset({".txt", ".md", ".py"})
TRACE_SUFFIXES = frozenset({".json", ".trace"})
FOLDER_SUFFIXES = TEXT_SUFFIXES | {".jsonl", ".json"}
PIECE_CHARACTERS = 2**16

# Between a line and the next where neither has white space at the border: tokenizers never join the two, so a long
# text can be encoded in pieces with the same result and little memory.
_SEAM = re.compile(r"(?<=\S\n)(?=\S)")
# In a long line: before the space between two words. Tokenizers take the space with what follows it.
_SEAM_IN_LINE = re.compile(r"(?<=[a-z])(?= [a-z])")


class Tokenizer(Protocol):
    """As much of `text.Text` as is needed here."""

    @property
    def vocab_size(self) -> int: ...
    @property
    def fingerprint(self) -> str: ...
    def encode(self, text: str) -> list[int]: ...
    def token_bytes(self, token: int) -> bytes: ...


def read_documents(
    sources: Iterable[str],
    tokenizer: Tokenizer,
    *,
    progress: Callable[[float], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    recycled: Recycled | None = None,
    skipped: Callable[[Path], None] = lambda path: None,
) -> Iterator[Sequence[int]]:
    """The documents in `sources`, in this order and a folder's files by name.

    What recorded answers tell of the tokens that were likely is learnt by `recycled`; `skipped` is told of files that
    are blank.

    `progress` is told the share of bytes that has been read, rising to 1. Soon after `cancelled` says so there are no
    more documents. Raises `UserError` that names the file when a source is missing, is not text, or was made by another
    tokenizer, and also if all files are blank.
    """
    paths = list(_paths(sources))
    reading = _Reading(sum(map(_size, paths)), progress, cancelled, Recycled() if recycled is None else recycled)
    blank: list[EmptyFileError] = []
    try:
        for path in paths:
            with reading.file(_size(path)):
                try:
                    yield from _documents_of(path, tokenizer, reading)
                except EmptyFileError as error:
                    blank.append(error)
                    skipped(path)
    except _Cancelled:
        return
    if blank and len(blank) == len(paths):
        raise blank[0] if len(blank) == 1 else EmptyFileError(f"All {len(blank)} files are empty.")


def encode(text: str, tokenizer: Tokenizer, passed: Callable[[float], None] = lambda share: None) -> list[int]:
    """The ids of a text of any length, without needing much memory for it. `passed` is told how far it has come."""
    ids: list[int] = []
    start = 0
    while start < len(text):
        enough = start + PIECE_CHARACTERS
        seam = (
            _SEAM.search(text, enough, enough + PIECE_CHARACTERS)
            or _SEAM_IN_LINE.search(text, enough)
            or _SEAM.search(text, enough)
        )
        stop = seam.start() if seam else len(text)
        ids += tokenizer.encode(text[start:stop])
        start = stop
        passed(start / len(text))
    return ids


class _Cancelled(Exception):
    pass


class _Reading:
    """How far all files together have been read, and what was learnt beside their documents."""

    def __init__(
        self,
        total: int,
        progress: Callable[[float], None] | None,
        cancelled: Callable[[], bool] | None,
        recycled: Recycled,
    ) -> None:
        self.recycled = recycled
        self._total = max(1, total)
        self._progress = progress
        self._cancelled = cancelled
        self._before = 0  # bytes of the files before this one
        self._size = 0

    @contextmanager
    def file(self, size: int) -> Iterator[None]:
        self._size = size
        self.passed(0.0)
        yield
        self.passed(1.0)
        self._before += size

    def passed(self, share: float) -> None:
        """This share of the current file is behind us. Raises `_Cancelled`."""
        if self._cancelled is not None and self._cancelled():
            raise _Cancelled
        if self._progress is not None:
            self._progress((self._before + share * self._size) / self._total)


def _paths(sources: Iterable[str]) -> Iterator[Path]:
    for source in sources:
        if source == STDLIB:
            yield from _standard_library()
        elif os.path.isdir(source):  # unlike Path.is_dir, false for a name too long to be one
            found = False
            for path in _files_below(Path(source)):
                found = True
                yield path
            if not found:
                raise UserError(f"The folder {source} holds no text files, recorded answers or traces.")
        else:
            yield Path(source)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except (OSError, ValueError):  # reading it says why
        return 0


def _documents_of(path: Path, tokenizer: Tokenizer, reading: _Reading) -> Iterator[Sequence[int]]:
    if named_as_answers(path):
        answers = read_recorded_answers(path, tokenizer.vocab_size, fingerprint=tokenizer.fingerprint)
        for number, answer in enumerate(answers, 1):
            reading.passed(number / len(answers))
            reading.recycled.learn((*answer.prompt, *answer.output), answer.top)
            yield answer.output
        return
    if _suffix(path) in TRACE_SUFFIXES:  # a damaged one is refused, not taken for prose
        yield load_trace(path, tokenizer).token_ids()
        return
    text = _read_text(path)
    if _suffix(path) not in TEXT_SUFFIXES and _is_trace(text):
        yield load_trace(path, tokenizer).token_ids()
    elif text.strip():
        yield encode(text, tokenizer, reading.passed)
    else:
        raise EmptyFileError(f"{path} is empty.")


def _standard_library() -> Iterator[Path]:
    """Its modules, without their tests and whatever else was installed beside them."""
    root = Path(sysconfig.get_path("stdlib"))
    left_out = {"site-packages", "dist-packages", "test", "tests"}
    for path in sorted(root.rglob("*.py")):
        if left_out.isdisjoint(path.relative_to(root).parts) and path.stat().st_size:
            yield path


def _files_below(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if hidden or _suffix(path) not in FOLDER_SUFFIXES or not path.is_file():
            continue
        if _suffix(path) != ".json" or _is_trace(_read_text(path)):  # a folder may hold other JSON, which is no text
            yield path


def _suffix(path: Path) -> str:
    return path.suffix.lower()


def _read_text(path: Path) -> str:
    try:
        content = path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a path with a zero byte
        raise UserError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    if b"\0" in content:
        raise UserError(f"{path} is not text: it holds a zero byte at position {content.index(0)}.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 text: the byte at position {error.start} does not fit.") from error


def _is_trace(text: str) -> bool:
    if not text.lstrip().startswith("{"):
        return False
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(data, dict) and "rounds" in data


def load_trace(path: Path, tokenizer: Tokenizer) -> Trace:
    """The trace at `path`. Raises `UserError` if it is none, or was recorded with another tokenizer."""
    try:
        trace = trace_file.load(path)
    except UserError as error:
        raise UserError(f"{path} cannot be used: {error}") from error
    for token, written in trace.token_bytes.items():
        if token >= tokenizer.vocab_size or tokenizer.token_bytes(token) != written:
            raise UserError(f"The trace {path} was recorded with another tokenizer: they differ in token {token}.")
    return trace
