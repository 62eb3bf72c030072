"""Answers kept as files: a trace each in a folder, or lines of token ids. What is there already is not asked again."""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

from sssd_demo.errors import UserError
from sssd_demo.questions import Question
from sssd_demo.sssd.documents import Tokenizer, load_trace
from sssd_demo.sssd.recorded_answers import check_tokenizer, named_as_answers
from sssd_demo.trace import Trace
from sssd_demo.trace_file import save

LINE_START = b'{"question_id": '
PROB_DIGITS = 4
LONGEST_NAME = 200  # characters; file systems take 255, with what is added to it


class Recording(Protocol):
    """Where answers are kept."""

    def has(self, question: Question) -> bool:
        """Whether the answer to this question is kept already. Raises `UserError` if it is another tokenizer's."""

    def keep(self, question: Question, trace: Trace) -> None:
        """Keep a finished answer. Raises `UserError` if that cannot be done."""

    def close(self) -> None:
        """Let others record to the same place."""


@contextmanager
def open_recording(path: Path, tokenizer: Tokenizer) -> Iterator[Recording]:
    """The recording at `path`: lines of token ids if its name ends in .jsonl, else a folder of traces.

    A file of lines is nobody else's until the block ends: another recording could not know what is added meanwhile.
    Raises `UserError` if it cannot be created, somebody else records to it, or what is there is something else or
    another tokenizer's. The folder it lies in must be there: a mistyped path shall not become one.
    """
    if not os.path.isdir(path.absolute().parent):  # unlike Path.is_dir, false for a name too long to be one
        raise UserError(f"Cannot record to {path}: there is no folder {path.parent}.")
    try:
        recording = LinesRecording(path, tokenizer) if named_as_answers(path) else FolderRecording(path, tokenizer)
    except OSError as error:
        raise UserError(f"Cannot record to {path}: {error.strerror or error}.") from error
    try:
        yield recording
    finally:
        recording.close()


class FolderRecording:
    """One trace file for each question, named by its id."""

    def __init__(self, folder: Path, tokenizer: Tokenizer) -> None:
        folder.mkdir(exist_ok=True)
        if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        self._folder = folder
        self._tokenizer = tokenizer

    def has(self, question: Question) -> bool:
        file = self._file(question)
        if not file.is_file():
            return False
        load_trace(file, self._tokenizer)
        return True

    def keep(self, question: Question, trace: Trace) -> None:
        save(trace, self._file(question))

    def close(self) -> None:
        """Files are whole at any moment, so two recordings may share a folder."""

    def _file(self, question: Question) -> Path:
        # Ids are free text, names of files are not; one that begins with a dot would be hidden.
        name = quote(question.id, safe="", errors="surrogatepass") or "%"
        if name.startswith("."):
            name = f"%2E{name[1:]}"
        if len(name) > LONGEST_NAME:
            raise UserError(
                f"The id of question {question.id[:40]}… is too long to name a file; please record to a .jsonl file."
            )
        return self._folder / f"{name}.json"


class LinesRecording:
    """Lines `{question_id, category, tokenizer, prompt: [ids], output: [ids], top: [[[id, probability], …], …]}`.

    They stand in the order in which answers ended. `tokenizer` is the fingerprint of the one that made the ids; `top`
    holds the target's most probable tokens at each position of the output, where the trace has them.
    """

    def __init__(self, path: Path, tokenizer: Tokenizer) -> None:
        self._path = path
        self._fingerprint = tokenizer.fingerprint
        self._file = path.open("ab", buffering=0)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._kept = _question_ids(path, self._fingerprint)
        except BlockingIOError as error:
            self.close()
            raise UserError(f"Another program is recording to {path}; please wait, or name another file.") from error
        except BaseException:
            self.close()
            raise

    def has(self, question: Question) -> bool:
        return question.id in self._kept

    def keep(self, question: Question, trace: Trace) -> None:
        line: dict[str, Any] = {
            "question_id": question.id,
            "category": question.category,
            "tokenizer": self._fingerprint,
            "prompt": list(trace.prompt),
            "output": trace.token_ids(),
        }
        if tops := [top for round_ in trace.rounds for top in round_.top]:
            line["top"] = [
                [[token, round(p, PROB_DIGITS)] for token, p in zip(top.tokens, top.probs, strict=True)] for top in tops
            ]
        try:
            self._file.write(f"{json.dumps(line)}\n".encode())
        except OSError as error:
            raise UserError(f"Cannot record to {self._path}: {error.strerror}.") from error
        self._kept.add(question.id)

    def close(self) -> None:
        self._file.close()  # which gives the lock up as well


def _question_ids(path: Path, fingerprint: str) -> set[str]:
    """The ids in a file of lines. A last line cut short, as a killed run leaves it, is taken out of the file.

    Raises `UserError` for a line that is no recorded answer, or another tokenizer's.
    """
    content = path.read_bytes()
    *lines, last = content.split(b"\n")
    cut_short = last.startswith(LINE_START[: len(last)]) and not _is_json(last)
    if last and not cut_short:
        lines.append(last)
    ids = {_question_id(line, f"{path}, line {number}", fingerprint) for number, line in enumerate(lines, start=1)}
    if last:
        with path.open("r+b") as file:
            if cut_short:
                file.truncate(len(content) - len(last))
            else:  # somebody took away the end of the last line, but nothing of the answer
                file.seek(len(content))
                file.write(b"\n")
    return ids


def _question_id(line: bytes, where: str, fingerprint: str) -> str:
    try:
        answer: dict[str, Any] = json.loads(line)
        id_, _ = str(answer["question_id"]), answer["output"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UserError(f"{where}: not a recorded answer, so nothing is added to this file.") from error
    check_tokenizer(answer, fingerprint, where)
    return id_


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True
