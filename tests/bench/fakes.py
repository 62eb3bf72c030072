"""Lanes that answer from a formula, and replies made by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sssd_demo.bench.lanes import Messages, Reply
from sssd_demo.metrics import Summary


def reply(tokens: str = "abc", tokens_per_second: float | None = 10.0) -> Reply:
    """A reply whose token ids are the code points of `tokens`."""
    summary = Summary(
        tokens=len(tokens),
        rounds=3,
        target_forwards=3,
        tokens_per_forward=1.5,
        seconds=1.0,
        decode_seconds=0.5,
        tokens_per_second=tokens_per_second,
        ttft_ms=50.0,
        tpot_ms=100.0,
        draft_ms=0.5,
        verify_ms=20.0,
        drafted=4,
        accepted=2,
        rejected=1,
        ignored=1,
        drafted_by_position=(2, 2),
        accepted_by_position=(1, 1),
    )
    return Reply(summary, tuple(map(ord, tokens)), tokens)


class FakeLane:
    """Answers each conversation with `answer_one` and notes what it was asked."""

    def __init__(self, name: str, log: list[tuple[str, list[str]]], answer_one: Callable[[str], Reply] = reply) -> None:
        self.name = name
        self._log = log
        self._answer_one = answer_one

    def answer(self, conversations: Sequence[Messages]) -> list[Reply]:
        self._log.append((self.name, [" / ".join(m["content"] for m in messages) for messages in conversations]))
        return [self._answer_one(messages[-1]["content"]) for messages in conversations]
