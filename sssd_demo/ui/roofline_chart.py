"""Pictures as data: what `static/roofline_chart.js` draws. Numbers are shortened, for they travel to the browser."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Scale = Literal["linear", "log"]
Point = tuple[float, float]


@dataclass(frozen=True)
class Axis:
    """`ticks` are the numbers written at it; without them the browser finds round ones."""

    label: str
    scale: Scale = "linear"
    low: float | None = None
    high: float | None = None
    ticks: Sequence[float] = ()


@dataclass(frozen=True)
class Series:
    """A line, dots, or both. `look` names how it is drawn in the style sheet, `shape` its dots (none: only a line).

    `name` goes into the legend, `end` stands beside its last point, `tops` are upper ends of bars over the dots.
    """

    points: Sequence[Point]
    look: str
    name: str = ""
    shape: Literal["", "circle", "square", "diamond", "triangle", "cross"] = ""
    line: bool = True
    end: str = ""
    labels: Sequence[str] = ()
    tops: Sequence[float] = ()


@dataclass(frozen=True)
class Level:
    """A straight line across the picture: at a height (`y`) or a place (`x`)."""

    label: str
    x: float | None = None
    y: float | None = None


@dataclass(frozen=True)
class Chart:
    """One picture with a sentence under it; `note` stands in it where there is nothing to draw."""

    title: str
    x: Axis
    y: Axis
    series: Sequence[Series]
    said: str = ""
    levels: Sequence[Level] = field(default_factory=tuple)
    note: str = ""

    def value(self) -> dict[str, Any]:
        return _shortened(asdict(self))


def _shortened(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {key: _shortened(each) for key, each in value.items() if each not in ("", (), None)}
    if isinstance(value, (list, tuple)):
        return [_shortened(each) for each in value]
    return value


def bounds(values: Iterable[float], room: float = 1.15) -> tuple[float, float]:
    """Ends of a logarithmic axis that holds `values`, with some room at both."""
    found = [value for value in values if value > 0]
    return (min(found) / room, max(found) * room) if found else (1.0, 10.0)
