"""Answers kept as token ids: JSON lines `{prompt: [ids], output: [ids], tokenizer, category, top}`.

The last three if known; `tokenizer` is the fingerprint of the tokenizer whose ids these are.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sssd_demo.errors import UserError
from sssd_demo.trace import Top

MAX_TOKEN_ID = 2**31 - 1


class EmptyFileError(UserError):
    """A file that holds nothing, or nothing but white space."""


@dataclass(frozen=True)
class RecordedAnswer:
    """One answer that a model gave, as token ids."""

    prompt: tuple[int, ...]
    output: tuple[int, ...]
    category: str = ""
    top: tuple[Top, ...] = ()  # what the target held likely at each position of the output, where that was kept


def read_recorded_answers(
    path: Path, vocab_size: int = MAX_TOKEN_ID + 1, *, fingerprint: str | None = None
) -> list[RecordedAnswer]:
    """All answers in a file. All keys but `output` may be left out; unknown ones are ignored.

    Raises `UserError` that names the file and the line that is wrong, also for an id not below `vocab_size`, and for
    an answer that says it is another tokenizer's than `fingerprint`, or, if that is None, than those before it.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, ValueError) as error:  # ValueError: not UTF-8, or a path with a zero byte
        raise UserError(
            f"{path} cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8 text'}."
        ) from error
    found = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            where = f"{path}, line {number}"
            data = _object(line, where)
            fingerprint = check_tokenizer(data, fingerprint, where)
            found.append(_answer(data, where, vocab_size))
    if not found:
        raise EmptyFileError(f"{path} is empty.")
    return found


def named_as_answers(path: Path) -> bool:
    """Whether the name says that the file holds such lines."""
    return path.suffix.lower() == ".jsonl"


def check_tokenizer(line: dict[str, Any], fingerprint: str | None, where: str) -> str | None:
    """The tokenizer's fingerprint as far as it is known: `fingerprint`, else that of the recorded `line`.

    Raises `UserError` if both are known and differ. Lines that this project wrote before it marked them have none.
    """
    mark = line.get("tokenizer")
    if mark is not None and fingerprint not in (None, mark):
        raise UserError(f"{where}: recorded with another tokenizer ({mark}) than the one expected ({fingerprint}).")
    return fingerprint or mark


def _object(line: str, where: str) -> dict[str, Any]:
    try:
        data: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{where}: this is not a JSON object.") from error
    if not isinstance(data, dict) or "output" not in data:
        raise UserError(f'{where}: a JSON object with a list "output" of token ids is expected.')
    return data


def _answer(data: dict[str, Any], where: str, vocab_size: int) -> RecordedAnswer:
    output = _ids(data["output"], "output", where, vocab_size)
    return RecordedAnswer(
        prompt=_ids(data.get("prompt", []), "prompt", where, vocab_size),
        output=output,
        category=str(data.get("category", "")),
        top=_tops(data.get("top", []), len(output), where, vocab_size),
    )


def _tops(value: object, positions: int, where: str, vocab_size: int) -> tuple[Top, ...]:
    if not value:
        return ()
    wrong = UserError(
        f'{where}: "top" must hold a list of [id, probability] for each of the {positions} output tokens.'
    )
    if not isinstance(value, list) or len(value) != positions:
        raise wrong
    tops = []
    for pairs in value:
        try:
            tokens, probs = zip(*pairs, strict=True) if pairs else ((), ())
        except (TypeError, ValueError) as error:
            raise wrong from error
        if not all(type(p) in (int, float) and 0 <= p <= 1 for p in probs):
            raise wrong
        tops.append(Top(_ids(list(tokens), "top", where, vocab_size), tuple(map(float, probs))))
    return tuple(tops)


def _ids(value: object, key: str, where: str, vocab_size: int) -> tuple[int, ...]:
    if not isinstance(value, list) or not all(type(token) is int for token in value):
        raise UserError(f'{where}: "{key}" must be a list of token ids.')
    if value and not (min(value) >= 0 and max(value) < vocab_size):
        raise UserError(f'{where}: a token id in "{key}" is not one of 0 to {vocab_size - 1}.')
    return tuple(value)
