"""Who answers which question when: in turn, so that a machine that warms up or slows down favours nobody."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from sssd_demo.bench.figures import Sample
from sssd_demo.bench.lanes import Lane, Messages
from sssd_demo.errors import UserError
from sssd_demo.questions import Question

WARM_UP: Messages = [{"role": "user", "content": "Please count from one to thirty in words."}]


@dataclass
class Run:
    """What came of a measurement. A question that some lane refused is left out for all, with the reason."""

    samples: list[Sample] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)


def measure(
    lanes: Sequence[Lane],
    questions: Sequence[Question],
    *,
    repeats: int = 1,
    all_turns: bool = False,
    batch: int = 1,
    tell: Callable[[str], None] = lambda line: None,
    inspect: Callable[[Sample], None] = lambda sample: None,
) -> Run:
    """Let every lane answer every question `repeats` times, `batch` questions at once.

    All lanes answer a group of questions before the next group starts; who goes first rotates from group to
    group and from repeat to repeat. Each lane answers once beforehand, outside the measurement. `tell` hears a
    line about every group, `inspect` sees every answer and may raise to stop everything. Raises `UserError` when
    a lane refuses even the warm-up.
    """
    for lane in lanes:
        tell(f"warming up {lane.name}")
        lane.answer([WARM_UP] * batch)
    run = Run()
    groups = [list(questions[start : start + batch]) for start in range(0, len(questions), batch)]
    for repeat in range(repeats):
        for number, group in enumerate(groups):
            tell(f"repeat {repeat + 1} of {repeats}, questions {_names(group)} ({number + 1} of {len(groups)})")
            for sample in _measure_group(run.skipped, _rotated(lanes, number + repeat), group, repeat, all_turns):
                inspect(sample)
                run.samples.append(sample)
    run.samples = [sample for sample in run.samples if sample.question.id not in run.skipped]
    return run


def _measure_group(
    skipped: dict[str, str], lanes: Sequence[Lane], group: list[Question], repeat: int, all_turns: bool
) -> Iterator[Sample]:
    for lane in lanes:
        histories: dict[Question, Messages] = {question: [] for question in group if question.id not in skipped}
        for turn in range(max(len(question.turns) for question in group) if all_turns else 1):
            asked = [question for question in histories if turn < len(question.turns)]
            if not asked:
                break
            conversations = [
                [*histories[question], {"role": "user", "content": question.turns[turn]}] for question in asked
            ]
            try:
                replies = lane.answer(conversations)
            except UserError as error:
                skipped.update((question.id, str(error)) for question in asked)
                break  # the other lanes still answer the group's other questions
            for question, messages, reply in zip(asked, conversations, replies, strict=True):
                histories[question] = [*messages, {"role": "assistant", "content": reply.text}]
                yield Sample(lane.name, question, turn, repeat, reply)


def _rotated(lanes: Sequence[Lane], by: int) -> list[Lane]:
    start = by % len(lanes)
    return [*lanes[start:], *lanes[:start]]


def _names(group: list[Question]) -> str:
    return ", ".join(question.id for question in group)
