"""A comparison's figures as CSV: one line for each lane, numbers in full, with what they were measured on."""

from __future__ import annotations

import csv
import io
from typing import Any

from sssd_demo.compare.comparison import Comparison
from sssd_demo.compare.figures import LaneFigures, Spread, lane_figures

PLACES = 8  # tokens ahead for which acceptance is told
_SPREADS = (
    ("per_second", "tokens_per_second"),
    ("ratio", "times_autoregressive"),
    ("per_forward", "tokens_per_forward"),
    ("seconds", "seconds"),
    ("first_ms", "first_token_ms"),
    ("draft_ms", "draft_ms"),
    ("verify_ms", "verify_ms"),
)
_COUNTS = ("drafted", "accepted", "rejected", "ignored")
_FORMULA = "=+-@\t\r"  # a spreadsheet would compute a text that begins with one of these


def csv_table(comparison: Comparison) -> str:
    """The table as text, a header first."""
    rows = [_row(comparison, figures) for figures in lane_figures(comparison)]
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]) if rows else ["lane"], lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _harmless(value) for key, value in row.items()} for row in rows)
    return out.getvalue()


def _row(comparison: Comparison, figures: LaneFigures) -> dict[str, Any]:
    lane, plan, cost = figures.lane, comparison.plan, figures.cost
    row: dict[str, Any] = {
        "lane": lane.name,
        "method": lane.method,
        "rule": lane.rule,
        "s_q": lane.s_q,
        "k": lane.k,
        "answers": figures.answers,
        "tokens": figures.tokens,
    }
    for name, told in _SPREADS:
        row |= _columns(told, getattr(figures, name))
    row |= {name: getattr(figures, name) for name in _COUNTS}
    for place in range(PLACES):
        there = place < len(figures.places)
        row[f"accepted_at_{place + 1}"] = _short(figures.places[place].share) if there else ""
    return row | {
        "same_text": "law only" if figures.law_only else f"{figures.answers - len(figures.differences)}",
        "training_needed": "" if cost.trained is None else "yes" if cost.trained else "no",
        "extra_memory_bytes": sum(memory.bytes for memory in cost.memory if memory.kind != "draft_cache"),
        "answers_under_load": sum(
            run.shared for run in comparison.runs if plan.lanes[run.step.lane] == lane
        ),
        "questions": len(plan.questions) - len(comparison.skipped),
        "repeats": plan.repeats,
        "max_new_tokens": plan.common.max_new_tokens,
        "temperature": plan.common.temperature,
        "top_k": plan.common.top_k,
        "top_p": plan.common.top_p,
        "seed": plan.common.seed,
        "datastore": plan.common.datastore or "none",
        "model": comparison.preset,
        "device": comparison.device,
        "dtype": comparison.dtype,
        "date": comparison.created,
    }  # fmt: skip


def _columns(name: str, spread: Spread | None) -> dict[str, Any]:
    parts = ("median", "p25", "p75", "mean")
    return {f"{name}_{part}": "" if spread is None else _short(getattr(spread, part)) for part in parts}


def _short(value: float) -> float:
    return float(f"{value:.6g}")


def _harmless(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value[:1] in _FORMULA and value else value
