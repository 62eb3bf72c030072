"""A store that knows a question or its answer is refused."""

from collections.abc import Sequence

import pytest

from sssd_demo.bench.contamination import ANSWER_RUN, SHARED_RUN, check_answer, check_question
from sssd_demo.errors import UserError


class Store:
    def __init__(self, tokens: Sequence[int]) -> None:
        self.tokens = list(tokens)

    def count(self, query: Sequence[int]) -> int:
        n = len(query)
        return sum(self.tokens[start : start + n] == list(query) for start in range(len(self.tokens) - n + 1))


def test_thirteen_tokens_of_a_question_anywhere_are_too_many():
    question = list(range(100, 140))
    check_question("7", question, Store([1, *question[5 : 5 + SHARED_RUN - 1], 2]).count, "mine")
    with pytest.raises(UserError, match="mine holds 13 tokens in a row of question 7"):
        check_question("7", question, Store([1, *question[5 : 5 + SHARED_RUN], 2]).count, "mine")


def test_a_question_shorter_than_that_cannot_be_recognised():
    check_question("7", [1, 2, 3], Store([1, 2, 3]).count, "mine")


def test_a_long_part_of_an_answer_tells_wherever_it_stands():
    answer = list(range(100, 160))
    for start in (0, 1, 11, len(answer) - ANSWER_RUN):
        part = answer[start : start + ANSWER_RUN]
        check_answer("7", answer, Store([1, *part[:-1], 2]).count, "mine")
        with pytest.raises(UserError, match="answer to question 7"):
            check_answer("7", answer, Store([1, *part, 2]).count, "mine")


def test_another_answer_to_the_same_question_tells_even_if_its_first_token_differs():
    with pytest.raises(UserError, match="answer to question 7"):
        check_answer("7", range(100, 160), Store([99, *range(101, 160)]).count, "mine")


def test_a_short_answer_tells_only_if_it_is_no_coincidence():
    check_answer("7", [1, 2, 3], Store([1, 2, 3]).count, "mine")
    with pytest.raises(UserError, match="answer"):
        check_answer("7", range(100, 120), Store([*range(100, 120), 5]).count, "mine")
