"""The scripted service with a draft model and a drafter: it answers with the made rounds of `toy_saguaro.py`."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import asdict, replace
from types import SimpleNamespace
from typing import Any

from sssd_demo.profile_file import ProfileKey
from sssd_demo.request import Finished
from sssd_demo.service import Settings
from sssd_demo.trace import Round, Trace
from tests.toy_saguaro import FIRST, HIT, MISS, Made, saguaro_trace, speculative_trace
from tests.ui.fakes import FakeService

BACKUP = Made(0, hit=False, why="miss", fallback="backup", rank=9, fan_out=3)
SCRIPT = (FIRST, HIT, HIT, Made(1), MISS, HIT, Made(2, rank=2), BACKUP, HIT, Made(0), HIT, HIT)


class MadeAnswer:
    """Like `service.Answer`: hands out the rounds of a made trace, with a pause after each."""

    def __init__(self, trace: Trace, pause: float) -> None:
        self._whole, self._pause = trace, pause
        self._cancelled = threading.Event()
        self.trace = replace(trace, rounds=(), finish_reason=None)
        self.finished = Finished("length", 1, 0)

    def __iter__(self) -> Iterator[Round]:
        for round_ in self._whole.rounds:
            if self._cancelled.wait(self._pause):
                break
            self.trace = replace(self.trace, rounds=(*self.trace.rounds, round_))
            yield round_
        cancelled = self._cancelled.is_set()
        self.trace = replace(self.trace, finish_reason="cancelled" if cancelled else "length")

    def cancel(self) -> None:
        self._cancelled.set()


class SaguaroService(FakeService):
    """Like `service.Service` of a pair; `made` are the rounds of every answer that is prepared ahead."""

    def __init__(self, pause: float = 0.0) -> None:
        super().__init__()
        self.threads, self.pause = 2, pause
        self.draft = SimpleNamespace(name="fake-small")
        self.drafter = SimpleNamespace(current=object())
        self.made: tuple[Made, ...] = SCRIPT
        self.settings: list[Settings] = []
        self.timed: list[str] = []
        self.engine = SimpleNamespace(busy=0, capacity=8, context_length=2048)

    def ask(self, messages: Any, settings: Settings, **_named: Any) -> Any:
        super().ask(messages, settings)  # which refuses what is too long
        self.settings.append(settings)
        if settings.method == "speculative":
            trace = speculative_trace([each.accepted for each in self.made])
        else:
            trace = saguaro_trace(self.made, settings.method, settings.temperature)
        trace = replace(trace, messages=tuple(messages), settings=asdict(settings))
        answer: Any = MadeAnswer(trace, self.pause)
        self.answers.append(answer)
        return answer

    def methods(self) -> list[str]:
        return ["autoregressive", "sssd", "speculative", "saguaro", "saguaro-sssd"]

    def profile_key(self) -> ProfileKey:
        return ProfileKey(self.model.device_name, self.model.dtype, self.threads, self.model.name)

    def time_forward(self, batch: int, q: int, context: int) -> float:
        self.timed.append("target")
        return 0.012 + 0.0001 * q

    def time_draft(self, batch: int, q: int, context: int) -> float:
        self.timed.append("draft")
        return 0.002 + 0.0001 * q
