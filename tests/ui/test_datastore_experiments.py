"""Results kept as data become figures; what cannot be read is left out."""

from __future__ import annotations

import json
from pathlib import Path

from sssd_demo.ui.datastore_experiments import experiments

RESULT = {
    "experiment": "cold_start",
    "title": "A store that begins empty",
    "verdict": "It rose from 1.3 to 1.6.",
    "device": "test bench",
    "model": "fake-1b",
    "created": "2025-11-29T10:00:00+00:00",
    "command": "experiment cold-start",
    "settings": {},
    "x": {"label": "stored", "unit": "tokens"},
    "y": {"label": "tokens per forward", "unit": ""},
    "series": [
        {"name": "both", "x": [1, 2], "y": [1.3, 1.6], "low": [1.2, 1.5], "high": [1.5, 1.7]},
        {"name": "prompt", "x": [1, 2], "y": [1.3, 1.3]},
    ],
    "kind": "line",
}


def write(folder: Path, name: str, data) -> None:
    (folder / name).write_text(data if isinstance(data, str) else json.dumps(data))


def test_a_result_has_its_title_verdict_origin_and_spread(tmp_path: Path):
    write(tmp_path, "experiment_cold_start.json", RESULT)
    (found,) = experiments(tmp_path)
    assert (found.title, found.verdict) == (RESULT["title"], RESULT["verdict"])
    assert found.made == "test bench · fake-1b · 2025-11-29 · experiment cold-start"
    both, prompt = found.figure.data
    assert list(both.y) == [1.3, 1.6]
    assert [round(part, 3) for part in both.error_y.array] == [0.2, 0.1]
    assert both.line.dash != prompt.line.dash
    assert found.figure.layout.xaxis.title.text == "stored (tokens)"
    assert found.figure.layout.yaxis.title.text == "tokens per forward"


def test_bars_are_told_apart_by_pattern_too(tmp_path: Path):
    series = [{"name": name, "x": ["en", "de"], "y": [1.0, 2.0]} for name in ("plain", "sssd")]
    write(tmp_path, "experiment_languages.json", RESULT | {"kind": "bar", "series": series})
    plain, sssd = experiments(tmp_path)[0].figure.data
    assert plain.type == "bar"
    assert plain.marker.pattern.shape != sssd.marker.pattern.shape


def test_results_that_are_missing_or_damaged_are_not_shown(tmp_path: Path):
    assert experiments(tmp_path) == []
    write(tmp_path, "experiment_a.json", "{")
    write(tmp_path, "experiment_b.json", {"title": "x"})
    write(tmp_path, "experiment_c.json", "[]")
    write(tmp_path, "other.json", RESULT)
    assert experiments(tmp_path) == []
