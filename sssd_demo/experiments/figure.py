"""What an experiment found: one picture with its axes, and one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Axis:
    """What stands along one side of the picture."""

    label: str
    unit: str


@dataclass(frozen=True)
class Series:
    """One line, or one set of bars. `low` and `high` are the ends of each `y`'s spread.

    They need not surround it: a mean can lie outside its quartiles.
    """

    name: str
    x: tuple[float | str, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None

    @classmethod
    def of_spreads(
        cls, name: str, x: Sequence[float | str], spreads: Sequence[dict[str, float]], middle: Literal["mean", "median"]
    ) -> Series:
        """With the `middle` of each spread (see `bench.figures.spread`) and its quartiles."""
        low, high = (tuple(one[quartile] for one in spreads) for quartile in ("p25", "p75"))
        return cls(name, tuple(x), tuple(one[middle] for one in spreads), low, high)


@dataclass(frozen=True)
class Origin:
    """Where, when and how a figure was found."""

    device: str
    model: str  # that wrote the answers
    created: str  # ISO date
    command: str


@dataclass(frozen=True)
class Figure:
    """One picture. `settings` holds what somebody needs to find the same again."""

    experiment: str  # its file's name is made of this
    title: str
    verdict: str  # one sentence, computed from the numbers
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    kind: Literal["line", "bar"]
    settings: dict[str, Any]

    def as_data(self, origin: Origin) -> dict[str, Any]:
        """The object that is kept as JSON; a series without a spread has no `low` and `high`."""
        data = asdict(self)
        data["series"] = [{key: part for key, part in one.items() if part is not None} for one in data["series"]]
        order = "experiment title verdict device model created command settings x y series kind".split()
        whole = data | asdict(origin)
        return {key: whole[key] for key in order}
