"""What came of a comparison, as frozen data: the traces of all lanes, and what they were measured with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from sssd_demo.compare.plan import Plan, Step
from sssd_demo.metrics import Summary, summarise
from sssd_demo.trace import Trace

MemoryKind = Literal["draft_model", "draft_cache", "datastore"]


@dataclass(frozen=True)
class Memory:
    """Something that a lane keeps in memory besides the target; a draft model's cache is told per token of text."""

    kind: MemoryKind
    bytes: int
    name: str = ""  # of the datastore or the model


@dataclass(frozen=True)
class Cost:
    """What a lane takes besides the target. `trained` is None where the method does not say."""

    trained: bool | None
    memory: tuple[Memory, ...] = ()


@dataclass(frozen=True)
class Run:
    """One finished answer of a lane."""

    step: Step
    trace: Trace
    prefill_forwards: int
    shared: bool  # others used the machine's model meanwhile, so that its times mean little

    @cached_property
    def summary(self) -> Summary:
        return summarise(self.trace, self.prefill_forwards)

    @property
    def pair(self) -> tuple[int, int]:
        """(question, repeat): equal for answers that are to be compared."""
        return self.step.question, self.step.repeat


@dataclass(frozen=True)
class Comparison:
    """All finished answers of a plan, whole or so far."""

    plan: Plan
    created: str  # ISO 8601, UTC
    device: str
    dtype: str
    preset: str
    costs: tuple[Cost, ...]  # one for each lane
    runs: tuple[Run, ...] = ()
    skipped: Mapping[int, str] = field(default_factory=dict)  # questions that some lane refused, with the reason
    known: frozenset[int] = frozenset()  # questions whose answer the datastore holds already

    def run(self, step: Step) -> Run | None:
        """The answer of this step, if it is there."""
        return next((run for run in self.runs if run.step == step), None)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """(question, repeat) of everything that was answered, in that order, each once."""
        return list(dict.fromkeys(run.pair for run in self.runs))

    @property
    def shared(self) -> int:
        """How many answers were written while others used the model."""
        return sum(run.shared for run in self.runs)
