"""What is known about the machine that the app runs on, for all visitors: drafts, plans, batches that were run.

It belongs to one service; with another model everything is forgotten.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from sssd_demo.batch_run import BatchResult, batch_prompts
from sssd_demo.errors import UserError
from sssd_demo.forward_work import ModelShape, shape_of
from sssd_demo.guess_yield import MeasuredYield, Yield, assumed_yield
from sssd_demo.length import CONTEXT_STEP
from sssd_demo.length_plan import OFF, Plan, averaged, plan
from sssd_demo.request import Length
from sssd_demo.roofline import Profile
from sssd_demo.service import Service

PLAIN = "autoregressive"
DRAFTING = "sssd"  # the method whose yield the plan is about
STORE = "base"
SWEEP = (1, 2, 4, 8, 16)
LONGEST = 64  # tokens of an answer that count
AHEAD = 2  # tokens that a text grows by while another one's prompt is read
SAMPLED = 16  # tokens a forward holds of each sequence while drafts are looked at
PLANNED_BATCHES = (1, 2, 4, 8, 16, 32)
MOST_KEPT = 500  # plans


@dataclass(frozen=True)
class There:
    """Another machine and perhaps another model, all computed."""

    profile: Profile
    bytes_per_weight: float


@dataclass(frozen=True)
class Measured:
    """One batch that was run, beside what had been planned for it."""

    result: BatchResult
    plan: Plan | None
    assumed: bool  # the plan rested on an assumption
    quick: bool  # … or on times of one sequence only
    ended: datetime


@dataclass
class Board:
    """All of it for one service. Handlers and the running job both use it."""

    service: Service
    store: str | None = None
    yields: dict[str, MeasuredYield | None] = field(default_factory=dict)  # None: its drafts cannot be played through
    measured: dict[tuple[str, int], Measured] = field(default_factory=dict)
    too_short: set[tuple[str, int]] = field(default_factory=set)
    _shape: ModelShape | None = None
    _shaped: bool = False
    _plans: dict[tuple[object, ...], tuple[Plan | None, Profile, object]] = field(default_factory=dict)
    _read: list[int] = field(default_factory=list)  # tokens of the prompts

    @property
    def profile(self) -> Profile:
        return self.service.profile

    @property
    def bytes_per_weight(self) -> int:
        return self.service.model.model.dtype.itemsize

    @property
    def quick(self) -> bool:
        """Whether only forwards of one sequence were timed."""
        return {batch for batch, _, _ in self.profile.forward_seconds} == {1}

    @property
    def shape(self) -> ModelShape | None:
        if not self._shaped:
            self._shape, self._shaped = shape_of(self.service.model.model), True
        return self._shape

    def stretch(self, batch: int) -> range:
        """Tokens that the longest text of a batch has while all of it are being written: from when to when.

        Whoever joins first writes about two tokens while each of the others' prompts is read.
        """
        if not self._read:
            prompts = batch_prompts()[: max(PLANNED_BATCHES)]
            self._read = [len(self.service.text.encode_chat([{"role": "user", "content": each}])) for each in prompts]
        begins = max(self._read[:batch]) + AHEAD * batch
        return range(begins, begins + LONGEST)

    def guesses(self, method: str) -> Yield | None:
        """How many guesses of a method are right: measured, for SSSD else assumed, or unknown."""
        if method in self.yields:
            return self.yields[method]
        return assumed_yield(store=self.store is not None) if method == DRAFTING else None

    def plan(
        self, method: str, batch: int, context: int, rule: Length = "auto", there: There | None = None
    ) -> Plan | None:
        """What is expected of `batch` sequences on this machine, or `there`."""
        profile, width = (there.profile, there.bytes_per_weight) if there else (self.profile, self.bytes_per_weight)
        rule = OFF if method == PLAIN else rule
        measured = self.yields.get(method)
        key = (id(profile), id(measured), method, rule, batch, context, width)
        if key not in self._plans:
            if len(self._plans) >= MOST_KEPT:
                self._plans = {}
            found = plan(profile, width, self.guesses(method), rule, batch, context)
            self._plans[key] = (found, profile, measured)  # kept alive, so that no others can have their ids
        return self._plans[key][0]

    def plan_run(self, method: str, batch: int) -> Plan | None:
        """What is expected of a batch while all of it are being written, as their texts grow."""
        shares = Counter(context // CONTEXT_STEP * CONTEXT_STEP for context in self.stretch(batch))
        plans = {self.plan(method, batch, context): share for context, share in shares.items()}
        known = {plan: share for plan, share in plans.items() if plan is not None}
        return averaged(known) if known else None

    def methods(self) -> list[str]:
        """Methods that were run, the yardstick first."""
        found = dict.fromkeys(method for method, _ in self.measured)
        return [PLAIN, *(method for method in found if method != PLAIN)]

    def batches(self, method: str) -> list[int]:
        return sorted(batch for name, batch in self.measured if name == method)

    def gain(self, method: str, batch: int) -> float | None:
        """How many times as many tokens a second as plain decoding; None unless both were run."""
        ours, plain = self.measured.get((method, batch)), self.measured.get((PLAIN, batch))
        if ours is None or plain is None:
            return None
        return ours.result.tokens_per_second / plain.result.tokens_per_second

    def note(self, result: BatchResult, planned: Plan | None) -> None:
        self.measured[result.method, result.batch] = Measured(
            result=result,
            plan=planned,
            assumed=result.method not in self.yields and result.method != PLAIN,
            quick=self.quick and result.batch > 1,
            ended=datetime.now(UTC),
        )
        self.too_short.discard((result.method, result.batch))


class Boards:
    """The board of whatever service there is. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._board: Board | None = None

    def of(self, service: Service) -> Board:
        with self._lock:
            if self._board is None or self._board.service is not service:
                self._board = Board(service, store=_store(service))
            return self._board


def offered(service: Service) -> Sequence[str]:
    """Methods that can be run beside plain decoding."""
    return [method for method in service.methods() if method != PLAIN]


def _store(service: Service) -> str | None:
    """The store that comes with the app, where it was made for this model."""
    try:
        if STORE in service.store_names():
            service.stores.open(STORE)
            return STORE
    except UserError:
        pass
    return None
