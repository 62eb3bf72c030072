"""A scripted service that can be compared, and comparisons made of its traces."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

from sssd_demo.compare.comparing import Comparing
from sssd_demo.compare.comparison import Comparison
from sssd_demo.compare.plan import Lane, Plan, plan_for
from sssd_demo.questions import Question
from sssd_demo.service import Service, Settings
from tests.ui.store_fakes import StoreService

ANSWER = "The cat sat on the mat. " * 4


class CompareService(StoreService):
    """Notes which method answered what; `others` is how many other answers the engine says it has meanwhile."""

    def __init__(self, reply=lambda question: ANSWER, delay: float = 0.0, **named) -> None:
        super().__init__(reply, delay=delay, **named)
        self.noted: list[str] = []  # methods whose answers refreshed the baseline
        self.engine = SimpleNamespace(busy=0, capacity=32)

    def note_baseline(self, trace) -> None:
        self.noted.append(trace.method)

    def asked_methods(self, question: str) -> list[str]:
        return [settings.method for messages, settings, _ in self.asked if messages[-1]["content"] == question]


def question(text: str, id: str | None = None) -> Question:
    return Question(id or text, "chat", (text,))


def plan(*questions: str, lanes: tuple[Lane, ...] = (Lane("sssd"),), repeats: int = 1, **settings: Any) -> Plan:
    common = replace(Settings(method="autoregressive", max_new_tokens=64), **settings)
    return plan_for([question(text) for text in questions or ("a cat",)], common, lanes, repeats)


def comparing(service: StoreService, plan: Plan, quiet_within: float = 0.0) -> Comparing:
    return Comparing(cast(Service, service), plan, quiet_within)


def compared(service: StoreService | None = None, planned: Plan | None = None) -> Comparison:
    """The whole comparison of `planned`; fails if it does not end well."""
    running = comparing(service or CompareService(), planned or plan())
    running.run()
    progress = running.progress()
    assert progress.phase == "ended", progress.reason
    return progress.comparison
