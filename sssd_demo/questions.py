"""Question files in Spec-Bench's format: one JSON object a line, `question_id`, `category`, `turns`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from sssd_demo.errors import UserError

MT_BENCH = "mt_bench"
MT_BENCH_CATEGORIES = frozenset(
    {"writing", "roleplay", "reasoning", "math", "coding", "extraction", "stem", "humanities"}
)


@dataclass(frozen=True)
class Question:
    """One conversation to hold: the user's turns in order."""

    id: str  # no two in a file are the same
    category: str
    turns: tuple[str, ...]

    @property
    def group(self) -> str:
        """The category to report under: MT-Bench's eight small ones count as one."""
        return MT_BENCH if self.category in MT_BENCH_CATEGORIES else self.category


def read_questions(path: str | Path, limit: int | None = None, *, called: str | None = None) -> list[Question]:
    """The questions in file `path`, in its order; with `limit`, that many, spread evenly over the groups.

    Raises `UserError` naming file and line when the file cannot be read or a line is not a question; the file is
    `called` by its path unless it has another name for the reader.
    """
    name = called or str(path)
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UserError(f"Cannot read the question file {name}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UserError(f"The question file {name} is not UTF-8 text.") from error
    questions: dict[str, Question] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            where = f"{name}, line {number}"
            question = _question(line, where)
            if question.id in questions:
                raise UserError(f"{where}: the question_id {question.id} was there before.")
            questions[question.id] = question
    if not questions:
        raise UserError(f"The question file {name} holds no questions.")
    found = list(questions.values())
    return found if limit is None else _spread(found, limit)


def _question(line: str, where: str) -> Question:
    try:
        data: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{where}: not a JSON object.") from error
    if not isinstance(data, dict):
        raise UserError(f"{where}: not a JSON object.")
    for key in ("question_id", "category", "turns"):
        if key not in data:
            raise UserError(f"{where}: {key} is missing.")
    turns = data["turns"]
    if not isinstance(turns, list) or not turns or not all(isinstance(turn, str) and turn.strip() for turn in turns):
        raise UserError(f"{where}: turns must be a list of texts, none of them empty.")
    return Question(str(data["question_id"]), str(data["category"]), tuple(turns))


def _spread(questions: list[Question], limit: int) -> list[Question]:
    """One question of each group in turn until there are `limit`, then back in the file's order."""
    groups: dict[str, list[Question]] = {}
    for question in questions:
        groups.setdefault(question.group, []).append(question)
    in_turn = [question for layer in zip_longest(*groups.values()) for question in layer if question]
    chosen = set(in_turn[:limit])
    return [question for question in questions if question in chosen]
