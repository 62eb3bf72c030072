"""What came of asking one question twice: drafting in turn, and preparing drafts ahead. Live or from a file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from sssd_demo.saguaro.alone_times import AloneTimes
from sssd_demo.saguaro.prediction import Inputs, inputs, ratio
from sssd_demo.saguaro.summary import CacheSummary, summarise_cache
from sssd_demo.saguaro.timeline import Timeline, measured
from sssd_demo.saguaro.two_devices import asynchronous, synchronous
from sssd_demo.trace import Trace

# measured: this machine's, from timestamps; computed: two devices, from times of forwards measured alone.
ClockName = Literal["measured", "computed"]
CLOCKS: tuple[ClockName, ...] = ("measured", "computed")


@dataclass(frozen=True)
class SweepPoint:
    """One answer with Saguaro sampling at a constant C."""

    c: float
    hits: int
    rounds: int  # after the first
    accepted: int
    tested: int  # drafted tokens that were accepted or rejected
    tokens_per_forward: float

    @property
    def hit_rate(self) -> float:
        return self.hits / self.rounds if self.rounds else 0.0

    @property
    def acceptance(self) -> float:
        return self.accepted / self.tested if self.tested else 0.0


@dataclass(frozen=True)
class Clocked:
    """Both answers on one clock, as far as they are there."""

    in_turn: Timeline | None
    ahead: Timeline | None
    inputs: Inputs | None

    @property
    def ratio(self) -> float | None:
        """Preparing ahead against drafting in turn, in tokens per second."""
        return ratio(self.ahead, self.in_turn) if self.ahead and self.in_turn else None


@dataclass(frozen=True)
class Found:
    """The answers so far, and what else was measured of the machine that gave them."""

    created: str  # ISO 8601, UTC
    device: str
    dtype: str
    preset: str
    cores: int  # threads that the target computes with when alone
    in_turn: Trace | None = None
    ahead: Trace | None = None
    alone: AloneTimes | None = None
    plain_speed: float | None = None  # tokens per second of plain decoding, measured on this machine at another time
    shared: bool = False  # others were answered meanwhile, so that measured times mean little
    recorded: bool = False

    @cached_property
    def cache(self) -> CacheSummary | None:
        return summarise_cache([self.ahead]) if self.ahead else None

    def clock(self, name: ClockName) -> Clocked | None:
        """None for the computed clock while forwards have not been measured alone, or cannot be laid out."""
        return self._clocks[name]

    def plain_on(self, name: ClockName) -> float | None:
        """Tokens per second of plain decoding on this clock."""
        if name == "measured":
            return self.plain_speed
        if self.alone is None or self.ahead is None:
            return None
        lengths = len(self.ahead.prompt), len(self.ahead.prompt) + len(self.ahead.token_ids())
        return 1000 / self.alone.verify_ms(1, 1, sum(lengths) // 2)

    @cached_property
    def _clocks(self) -> dict[ClockName, Clocked | None]:
        here = self._clocked(
            measured(self.in_turn) if self.in_turn else None, measured(self.ahead) if self.ahead else None
        )
        return {"measured": here, "computed": self._computed()}

    def _computed(self) -> Clocked | None:
        if self.alone is None:
            return None
        try:
            in_turn = synchronous(self.in_turn, self.alone) if self.in_turn and self.in_turn.rounds[1:] else None
            ahead = asynchronous(self.ahead, self.alone) if self.ahead and self.ahead.rounds[1:] else None
        except ValueError:  # a file may hold drafts of any kind
            return None
        return self._clocked(in_turn, ahead)

    def _clocked(self, in_turn: Timeline | None, ahead: Timeline | None) -> Clocked:
        found = inputs(self.ahead, ahead, in_turn) if self.ahead and ahead and in_turn else None
        return Clocked(in_turn, ahead, found)
