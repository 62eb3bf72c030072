"""Answers kept as files: a trace each in a folder, or lines of token ids. What is there already is not asked again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

from sssd_demo.errors import UserError
from sssd_demo.questions import Question
from sssd_demo.trace import Trace
from sssd_demo.trace_file import save

LINE_START = b'{"question_id": '
PROB_DIGITS = 4


class Recording(Protocol):
    """Where answers are kept."""

    def has(self, question: Question) -> bool:
        """Whether the answer to this question is kept already."""

    def keep(self, question: Question, trace: Trace) -> None:
        """Keep a finished answer. Raises `UserError` if that cannot be done."""


def open_recording(path: Path) -> Recording:
    """The recording at `path`: lines of token ids if its name ends in .jsonl, else a folder of traces.

    Raises `UserError` if it cannot be created or what is there is something else. The folder it lies in must be
    there: a mistyped path shall not become one.
    """
    if not path.absolute().parent.is_dir():
        raise UserError(f"Cannot record to {path}: there is no folder {path.parent}.")
    try:
        return LinesRecording(path) if path.suffix == ".jsonl" else FolderRecording(path)
    except OSError as error:
        raise UserError(f"Cannot record to {path}: {error.strerror or error}.") from error


class FolderRecording:
    """One trace file for each question, named by its id."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self._folder = folder

    def has(self, question: Question) -> bool:
        return self._file(question).is_file()

    def keep(self, question: Question, trace: Trace) -> None:
        save(trace, self._file(question))

    def _file(self, question: Question) -> Path:
        return self._folder / f"{quote(question.id, safe='')}.json"  # ids are free text, file names are not


class LinesRecording:
    """Lines `{question_id, category, prompt: [ids], output: [ids], top: [[[id, probability], …], …]}`.

    They stand in the order in which answers ended. `top` holds the target's most probable tokens at each position of
    the output, where the trace has them.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        path.touch()
        self._kept = _question_ids(path)

    def has(self, question: Question) -> bool:
        return question.id in self._kept

    def keep(self, question: Question, trace: Trace) -> None:
        line: dict[str, Any] = {
            "question_id": question.id,
            "category": question.category,
            "prompt": list(trace.prompt),
            "output": trace.token_ids(),
        }
        if tops := [top for round_ in trace.rounds for top in round_.top]:
            line["top"] = [
                [[token, round(p, PROB_DIGITS)] for token, p in zip(top.tokens, top.probs, strict=True)] for top in tops
            ]
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        except OSError as error:
            raise UserError(f"Cannot record to {self._path}: {error.strerror}.") from error
        self._kept.add(question.id)


def _question_ids(path: Path) -> set[str]:
    """The ids in a file of lines. A last line cut short, as a killed run leaves it, is taken out of the file."""
    content = path.read_bytes()
    complete = content[: content.rfind(b"\n") + 1]
    rest = content[len(complete) :]
    ids = set()
    for number, line in enumerate(complete.splitlines(), start=1):
        try:
            ids.add(str(json.loads(line)["question_id"]))
        except (ValueError, KeyError, TypeError) as error:
            raise _foreign(path, number) from error
    if rest:
        if not rest.startswith(LINE_START[: len(rest)]):
            raise _foreign(path, complete.count(b"\n") + 1)
        with path.open("r+b") as file:
            file.truncate(len(complete))
    return ids


def _foreign(path: Path, line: int) -> UserError:
    return UserError(f"{path}, line {line}: not a recorded answer, so nothing is added to this file.")
