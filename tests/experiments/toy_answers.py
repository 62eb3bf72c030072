"""Recorded answers of a model that has twelve phrases and never says one twice in an answer."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from sssd_demo.sssd.recorded_answers import RecordedAnswer
from sssd_demo.trace import Top

VOCABULARY = 10_000
_PHRASES = [[10 * phrase + place for place in range(10)] for phrase in range(12)]


def phrased(count: int, *, seed: int = 0, phrases: int = 4) -> list[RecordedAnswer]:
    """`count` answers of 10 · `phrases` tokens. Their own text predicts nothing, the others' nearly everything."""
    rng = random.Random(seed)
    answers = []
    for number in range(count):
        output = [token for phrase in rng.sample(_PHRASES, phrases) for token in phrase]
        answers.append(RecordedAnswer((1000 + 100 * seed + number, 999), tuple(output)))
    return answers


def repeating(count: int) -> list[RecordedAnswer]:
    """`count` answers that say their own ten tokens three times. Their own text predicts most, others' nothing."""
    return [RecordedAnswer((1700 + number, 999), tuple(_own(number)) * 3) for number in range(count)]


def fresh(count: int) -> list[RecordedAnswer]:
    """`count` answers that nothing predicts."""
    return [RecordedAnswer((1800 + number, 999), tuple(_own(number, 30))) for number in range(count)]


def recorded_with_top(answers: Sequence[RecordedAnswer]) -> list[RecordedAnswer]:
    """`answers`, of a target that held each of their tokens likely."""
    return [replace(answer, top=tuple(map(_likely, answer.output))) for answer in answers]


def hinting(answer: RecordedAnswer, filler: int) -> RecordedAnswer:
    """Another one: the tokens of `answer`, each followed by a new one, where the target held the next of them likely.

    Its text predicts nothing of `answer`; what was likely in it does.
    """
    output: list[int] = []
    top: list[Top] = []
    for n, (token, after) in enumerate(pairwise(answer.output)):
        output += [token, filler + n]
        top += [_likely(token), _likely(after)]
    return RecordedAnswer((filler, 999), tuple(output), top=tuple(top))


def _likely(token: int) -> Top:
    return Top((token,), (0.9,))


def _own(number: int, length: int = 10) -> Iterator[int]:
    return iter(range(2000 + length * number, 2000 + length * (number + 1)))
