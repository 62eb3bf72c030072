"""Results of experiments, kept as data in `benchmarks/results/experiment_*.json`, as small figures."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import plotly.graph_objects as go

from sssd_demo.ui.palette import FIGURE_COLOURS
from sssd_demo.ui.words import WORDS

logger = logging.getLogger(__name__)

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
HEIGHT = 250  # pixels
_DASHES = ("solid", "dash", "dot", "dashdot")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up")
_PATTERNS = ("", "/", ".", "x")


@dataclass(frozen=True)
class Experiment:
    """One result, ready to be shown."""

    title: str
    verdict: str  # one sentence
    made: str  # device, model, date and command in one line
    figure: go.Figure


def experiments(folder: Path = RESULTS) -> list[Experiment]:
    """All results in `folder`, by file name. One that cannot be read is left out and noted in the log."""
    found = []
    for path in sorted(folder.glob("experiment_*.json")):
        try:
            found.append(_experiment(json.loads(path.read_text(encoding="utf-8"))))
        except (OSError, ValueError, TypeError, KeyError) as error:
            logger.warning("the result %s cannot be shown: %r", path.name, error)
    return found


def _experiment(data: dict[str, Any]) -> Experiment:
    return Experiment(
        title=str(data["title"]),
        verdict=str(data["verdict"]),
        made=WORDS["store.lab.made"].format(
            device=data["device"], model=data["model"], date=str(data["created"])[:10], command=data["command"]
        ),
        figure=_figure(data),
    )


def _figure(data: dict[str, Any]) -> go.Figure:
    """Told apart by dash, marker and pattern as well as by colour. Text gets its colour from the style sheet."""
    draw = _bars if data["kind"] == "bar" else _line
    figure = go.Figure([draw(series, at) for at, series in enumerate(data["series"])])
    figure.update_layout(
        template=None,
        height=HEIGHT,
        margin={"l": 52, "r": 10, "t": 8, "b": 44},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"size": 12},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "bgcolor": "rgba(0,0,0,0)"},
        showlegend=len(data["series"]) > 1,
        dragmode=False,
        xaxis=_axis(data["x"]),
        yaxis=_axis(data["y"]),
    )
    return figure


def _axis(axis: dict[str, Any]) -> dict[str, Any]:
    title = f"{axis['label']} ({axis['unit']})" if axis.get("unit") else axis["label"]
    return {"title": {"text": title, "standoff": 6}, "gridcolor": "rgba(128,128,128,0.25)", "zeroline": False}


def _line(series: dict[str, Any], at: int) -> go.Scatter:
    colour = FIGURE_COLOURS[at % len(FIGURE_COLOURS)]
    return go.Scatter(
        name=series["name"],
        x=series["x"],
        y=series["y"],
        error_y=_spread(series),
        mode="lines+markers",
        line={"color": colour, "dash": _DASHES[at % len(_DASHES)], "width": 2},
        marker={"symbol": _SYMBOLS[at % len(_SYMBOLS)], "size": 6 if len(series["x"]) < 30 else 3},
    )


def _bars(series: dict[str, Any], at: int) -> go.Bar:
    colour = FIGURE_COLOURS[at % len(FIGURE_COLOURS)]
    return go.Bar(
        name=series["name"],
        x=series["x"],
        y=series["y"],
        error_y=_spread(series),
        marker={"color": colour, "pattern": {"shape": _PATTERNS[at % len(_PATTERNS)]}},
    )


def _spread(series: dict[str, Any]) -> dict[str, Any] | None:
    if "low" not in series or "high" not in series:
        return None
    above = [high - y for high, y in zip(series["high"], series["y"], strict=True)]
    below = [y - low for low, y in zip(series["low"], series["y"], strict=True)]
    return {"type": "data", "array": above, "arrayminus": below, "thickness": 1, "width": 3}
