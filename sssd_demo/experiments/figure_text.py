"""A figure for somebody at a terminal: its numbers as a table, and its verdict."""

from __future__ import annotations

from typing import Any


def figure_text(figure: dict[str, Any]) -> str:
    """Title, a row for each x with a column for each series, and the verdict; `figure` is as kept in its file."""
    series = figure["series"]
    cells = {one["name"]: _cells(one) for one in series}
    x = {x: None for one in series for x in one["x"]}
    numbers = all(isinstance(value, int | float) for value in x)
    places = sorted(x) if numbers else list(x)
    label = ", ".join(filter(None, figure["x"].values()))
    lines = [[label, *cells]]
    lines += [[_number(value), *(column.get(value, "-") for column in cells.values())] for value in places]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    unit = ", ".join(filter(None, figure["y"].values()))
    return "\n".join([figure["title"], unit, "", *table, "", figure["verdict"]])


def _cells(series: dict[str, Any]) -> dict[Any, str]:
    cells = {x: f"{y:.3f}" for x, y in zip(series["x"], series["y"], strict=True)}
    for x, low, high in zip(series["x"], series.get("low", ()), series.get("high", ()), strict=False):
        cells[x] += f" ({low:.3f} to {high:.3f})"
    return cells


def _number(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:,}"
