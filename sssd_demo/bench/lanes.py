"""A lane: one method with its settings, ready to answer and to say how long each part took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sssd_demo.answer import Answer
from sssd_demo.metrics import Summary, summarise
from sssd_demo.service import Service, Settings
from sssd_demo.trace import Trace

Messages = list[dict[str, str]]


@dataclass(frozen=True)
class Reply:
    """One answer of a lane."""

    summary: Summary
    token_ids: tuple[int, ...]
    text: str
    probs: tuple[float, ...] = ()  # the target's probability of each token, where it is known
    trace: Trace | None = None  # of our own methods


class Lane(Protocol):
    """Something that answers, to be measured."""

    name: str

    def answer(self, conversations: Sequence[Messages]) -> list[Reply]:
        """Answer all `conversations` at once. Raises `UserError` when one cannot be answered."""


class ServiceLane:
    """One of our own methods, through the same service that the app uses."""

    def __init__(self, name: str, service: Service, settings: Settings) -> None:
        self.name = name
        self._service = service
        self._settings = settings

    def answer(self, conversations: Sequence[Messages]) -> list[Reply]:
        answers: list[Answer] = []
        try:
            answers.extend(self._service.ask(messages, self._settings) for messages in conversations)
            return [self._reply(answer) for answer in answers]
        finally:
            for answer in answers:  # if one could not be written, the others are of no use
                answer.cancel()

    def _reply(self, answer: Answer) -> Reply:
        for _ in answer:
            pass  # the trace grows with the rounds
        token_ids = tuple(answer.trace.token_ids())
        summary = summarise(answer.trace, answer.finished.prefill_forwards)
        return Reply(summary, token_ids, self._service.text.decode(token_ids), token_probs(answer.trace), answer.trace)


def token_probs(trace: Trace) -> tuple[float, ...]:
    """The target's probability of every token of the answer."""
    probs: list[float] = []
    for round_ in trace.rounds:
        path = [round_.tree.target_probs[node] for node in round_.tree.accepted_path()]
        probs.extend([*path, round_.bonus_prob][: len(round_.committed)])
    return tuple(probs)
