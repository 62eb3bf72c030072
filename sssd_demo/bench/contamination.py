"""No store may know what it is measured on: neither the questions nor their answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sssd_demo.errors import UserError

SHARED_RUN = 13  # prompt tokens in a row that are no coincidence
ANSWER_RUN = 32  # answers of one model have turns of phrase in common, but none as long as this

Count = Callable[[Sequence[int]], int]  # how often a store holds these tokens in a row


def check_question(question_id: str, tokens: Sequence[int], count: Count, store: str) -> None:
    """Raises `UserError` if `store` shares `SHARED_RUN` tokens in a row with a question of these `tokens`."""
    if holds_question(tokens, count):
        raise UserError(
            f"The datastore {store} holds {SHARED_RUN} tokens in a row of question {question_id}, so a "
            "measurement with it would mean nothing; please use another store, or none."
        )


def check_answer(question_id: str, tokens: Sequence[int], count: Count, store: str) -> None:
    """Raises `UserError` if `store` holds an answer of these `tokens`, or a long part of it (see `holds_answer`)."""
    if holds_answer(tokens, count):
        raise UserError(
            f"The datastore {store} holds an answer to question {question_id}, so a measurement with it would mean "
            "nothing; please use another store, or none."
        )


def holds_question(tokens: Sequence[int], count: Count) -> bool:
    """Whether any `SHARED_RUN` tokens in a row of a question are there."""
    return any(count(tokens[start : start + SHARED_RUN]) for start in range(len(tokens) - SHARED_RUN + 1))


def holds_answer(tokens: Sequence[int], count: Count) -> bool:
    """Whether any `ANSWER_RUN` tokens in a row of an answer are there, or the whole of a shorter one.

    Anywhere in it: two answers to the same question may differ in their first word alone. One of fewer than
    `SHARED_RUN` tokens is not looked for: any two texts may share those.
    """
    if len(tokens) < SHARED_RUN:
        return False
    return any(count(tokens[start : start + ANSWER_RUN]) for start in range(max(1, len(tokens) - ANSWER_RUN + 1)))
