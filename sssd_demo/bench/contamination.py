"""No store may know what it is measured on: neither the questions nor their answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sssd_demo.errors import UserError

SHARED_RUN = 13  # prompt tokens in a row that are no coincidence
ANSWER_RUN = 32  # answers of one model begin alike, but not for this long

Count = Callable[[Sequence[int]], int]  # how often a store holds these tokens in a row


def check_question(question_id: str, tokens: Sequence[int], count: Count, store: str) -> None:
    """Raises `UserError` if `store` shares `SHARED_RUN` tokens in a row with a question of these `tokens`."""
    for start in range(len(tokens) - SHARED_RUN + 1):
        if count(tokens[start : start + SHARED_RUN]):
            raise UserError(
                f"The datastore {store} holds {SHARED_RUN} tokens in a row of question {question_id}, so a "
                "measurement with it would mean nothing; please use another store, or none."
            )


def check_answer(question_id: str, tokens: Sequence[int], count: Count, store: str) -> None:
    """Raises `UserError` if `store` holds an answer: its first `ANSWER_RUN` tokens, or all if there are fewer.

    Answers of fewer than `SHARED_RUN` tokens are not looked for: any two texts may share those.
    """
    if len(tokens) >= SHARED_RUN and count(tokens[:ANSWER_RUN]):
        raise UserError(
            f"The datastore {store} holds an answer to question {question_id}, so a measurement with it would mean "
            "nothing; please use another store, or none."
        )
