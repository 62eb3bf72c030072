"""What is to be compared: questions, settings that all lanes share, the lanes, and who answers when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sssd_demo.bench import BASELINE
from sssd_demo.errors import UserError
from sssd_demo.questions import Question
from sssd_demo.request import Length
from sssd_demo.service import Settings
from sssd_demo.speculators.needs import WITH_DRAFT_MODEL
from sssd_demo.trace import AcceptanceRule

MOST_LANES = 8
MOST_REPEATS = 5
MOST_QUESTIONS = 48
MOST_TOKENS = 32_768  # in all answers together; more is a matter for the command `bench`


@dataclass(frozen=True)
class Lane:
    """A method with what only some methods go by. Its name tells one lane of a comparison from the others."""

    method: str
    s_q: Length = "auto"
    k: int | Literal["auto"] = "auto"
    rule: AcceptanceRule = "chain"

    @property
    def name(self) -> str:
        """For example "sssd", "sssd · s_q 8" or "speculative · block · K 3"."""
        parts = [self.method]
        if self.method in WITH_DRAFT_MODEL:
            parts.append(self.rule)
        if self.k != "auto":
            parts.append(f"K {self.k}")
        if self.s_q != "auto":
            parts.append(f"s_q {self.s_q}")
        return " · ".join(parts)

    def settings(self, common: Settings) -> Settings:
        """The settings of its answers."""
        return replace(common, method=self.method, s_q=self.s_q, k=self.k, rule=self.rule)


YARDSTICK = Lane(BASELINE)


@dataclass(frozen=True)
class Step:
    """One answer to be measured: indices into a plan's questions and lanes; repeats count from 0."""

    repeat: int
    question: int
    lane: int


@dataclass(frozen=True)
class Plan:
    """Every lane answers the first turn of every question `repeats` times. The first lane is the yardstick.

    Raises `UserError` if there is nothing to compare, or more than a visitor may ask for.
    """

    questions: tuple[Question, ...]
    common: Settings  # its method and lengths are the lanes' own business
    lanes: tuple[Lane, ...]
    repeats: int = 1

    def __post_init__(self) -> None:
        if not self.lanes or self.lanes[0] != YARDSTICK:
            raise UserError(f"The first lane of a comparison must be {BASELINE}, the yardstick.")
        names = [lane.name for lane in self.lanes]
        if len(names) == 1:
            raise UserError(f"Please choose at least one method besides {BASELINE}.")
        if len(set(names)) < len(names):
            raise UserError("Two lanes of this comparison are the same.")
        if self.common.share:
            raise UserError("A comparison neither reads nor feeds the store of all visitors.")
        for count, most, what in (
            (len(names), MOST_LANES, "methods"),
            (len(self.questions), MOST_QUESTIONS, "questions"),
            (self.repeats, MOST_REPEATS, "repeats"),
        ):
            if not 1 <= count <= most:
                raise UserError(f"A comparison has 1 to {most} {what}, but this one would have {count}.")
        if self.tokens > MOST_TOKENS:
            raise UserError(
                f"That would be up to {self.tokens:,} tokens in all, and here it may be {MOST_TOKENS:,}; please take"
                " fewer methods, questions or repeats, or shorter answers."
            )

    @property
    def tokens(self) -> int:
        """How many tokens may be written in all."""
        return len(self.lanes) * len(self.questions) * self.repeats * self.common.max_new_tokens

    def steps(self) -> Iterator[Step]:
        """All answers in their order: every lane answers a question before the next one comes.

        Who goes first rotates from question to question and from repeat to repeat, so that a machine that warms up
        or slows down favours nobody.
        """
        for repeat in range(self.repeats):
            for question in range(len(self.questions)):
                for turn in range(len(self.lanes)):
                    yield Step(repeat, question, (turn + question + repeat) % len(self.lanes))


def plan_for(questions: Sequence[Question], common: Settings, lanes: Sequence[Lane], repeats: int = 1) -> Plan:
    """A plan with the yardstick first, chosen or not, and no lane twice. Raises `UserError` as `Plan` does."""
    others = [lane for lane in lanes if lane.method != BASELINE]
    return Plan(tuple(questions), YARDSTICK.settings(common), (YARDSTICK, *dict.fromkeys(others)), repeats)
