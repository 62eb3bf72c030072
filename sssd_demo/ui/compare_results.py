"""A comparison → table, pictures and the sentences under them. Drawn by `static/compare_results.js`."""

from __future__ import annotations

from typing import Any

from sssd_demo.compare.comparison import Comparison, Memory, Run
from sssd_demo.compare.figures import Difference, LaneFigures, Spread, lane_figures, unsteady
from sssd_demo.compare.table import PLACES
from sssd_demo.ui.token_text import piece
from sssd_demo.ui.verdict import SAME_SPEED
from sssd_demo.ui.words import WORDS

TIE = 0.1  # a 16-bit logit is off by some per cent; probabilities further apart are not explained by that
ENOUGH = 5  # guesses; a share of fewer is not worth a sentence
QUARTILES_FROM = 3  # answers; fewer have no quartiles worth the name
_COLUMNS = (
    *("method", "same", "ratio", "speed", "per_forward", "places", "counts", "draft", "verify", "first"),
    *("training", "memory"),
)


def results_value(comparison: Comparison) -> dict[str, Any] | None:
    """The value of the results view; None before two lanes can be compared."""
    lanes = lane_figures(comparison)
    if len(lanes) < 2:
        return None
    return {
        "notes": _notes(comparison),
        "same": _sameness(comparison, lanes),
        "columns": [WORDS[f"compare.column.{name}"] for name in _COLUMNS],
        "rows": [_row(lane) for lane in lanes],
        "about": _about(comparison),
        "rule": WORDS["compare.table.rule"],
        "speed": {"bars": [_bar(lane, lane.per_second, 1) for lane in lanes], "verdict": _speed_verdict(lanes)},
        "forward": {"bars": [_bar(lane, lane.per_forward, 2) for lane in lanes], "verdict": _forward_verdict(lanes)},
        "places": {
            "lanes": [{"name": lane.lane.name, "places": _places(lane)} for lane in lanes if not lane.is_yardstick],
            "verdict": _places_verdict(lanes),
        },
    }


def _row(lane: LaneFigures) -> dict[str, Any]:
    """Cells in the order of the columns: [text, small text], or [] for the bars of `places`."""
    counts = f"{lane.drafted:,} = {lane.accepted:,} + {lane.rejected:,} + {lane.ignored:,}"
    cells = {
        "method": [lane.lane.name],
        "same": [_same_cell(lane)],
        "ratio": _cell(lane, lane.ratio, 2, "×"),
        "speed": _cell(lane, lane.per_second, 1),
        "per_forward": _cell(lane, lane.per_forward, 2),
        "places": [],
        "counts": [counts if lane.drafted else WORDS["figure.none"]],
        "draft": [_number(None if lane.is_yardstick else lane.draft_ms, 2)],
        "verify": [_number(lane.verify_ms, 1)],
        "first": [_number(lane.first_ms, 0)],
        "training": [WORDS[f"compare.cell.{_training(lane.cost.trained)}"]],
        "memory": [_memory(lane.cost.memory) if lane.cost.trained is not None else WORDS["compare.cell.unknown"]],
    }
    return {"plain": lane.is_yardstick, "cells": [cells[name] for name in _COLUMNS], "places": _places(lane)}


def _cell(lane: LaneFigures, spread: Spread | None, digits: int, unit: str = "") -> list[str]:
    if spread is None:
        return [WORDS["figure.none"]]
    text = f"{spread.median:.{digits}f}{unit}"
    if lane.answers < QUARTILES_FROM or (unit and lane.is_yardstick):
        return [text]
    return [
        text,
        WORDS["compare.cell.quartiles"].format(low=f"{spread.p25:.{digits}f}", high=f"{spread.p75:.{digits}f}"),
    ]


def _number(spread: Spread | None, digits: int) -> str:
    return WORDS["figure.none"] if spread is None else f"{spread.median:.{digits}f}"


def _same_cell(lane: LaneFigures) -> str:
    if lane.is_yardstick:
        return WORDS["compare.cell.yardstick"]
    if lane.law_only:
        return WORDS["compare.cell.law"]
    if lane.differences:
        same = lane.answers - len(lane.differences)
        return WORDS["compare.cell.differs_of"].format(same=same, n=lane.answers)
    return WORDS["compare.cell.same" if lane.answers == 1 else "compare.cell.same_of"].format(n=lane.answers)


def _training(trained: bool | None) -> str:
    return "unknown" if trained is None else "yes" if trained else "no"


def _memory(memory: tuple[Memory, ...]) -> str:
    told = (
        WORDS[f"compare.memory.{each.kind}"].format(size=size_text(each.bytes), name=each.name)
        for each in memory
    )  # fmt: skip
    return " + ".join(told) or WORDS["compare.cell.no_memory"]


def size_text(size: int) -> str:
    """Bytes in a unit that leaves a short number."""
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= factor:
            return f"{size / factor:.{1 if size < 10 * factor else 0}f} {unit}"
    return f"{size} B"


def _bar(lane: LaneFigures, spread: Spread | None, digits: int) -> dict[str, Any]:
    several = spread is not None and lane.answers >= QUARTILES_FROM
    return {
        "name": lane.lane.name,
        "plain": lane.is_yardstick,
        "value": None if spread is None else spread.median,
        "low": spread.p25 if spread and several else None,
        "high": spread.p75 if spread and several else None,
        "text": WORDS["figure.none"] if spread is None else f"{spread.median:.{digits}f}",
    }


def _places(lane: LaneFigures) -> list[list[int]]:
    """[guessed, right] for one, two, … tokens ahead."""
    return [[place.drafted, place.accepted] for place in lane.places[:PLACES]]


def _about(comparison: Comparison) -> str:
    plan = comparison.plan
    asked = len(plan.questions) - len(comparison.skipped)
    return WORDS["compare.table.count"].format(
        questions=WORDS["compare.question" if asked == 1 else "compare.questions"].format(n=asked),
        repeats=WORDS["compare.repeat" if plan.repeats == 1 else "compare.repeats_n"].format(n=plan.repeats),
        tokens=plan.common.max_new_tokens,
        temperature=plan.common.temperature,
        seed=plan.common.seed,
        store=plan.common.datastore or WORDS["set.store_none"],
        model=comparison.preset,
        dtype=comparison.dtype,
        device=comparison.device,
    )


def _notes(comparison: Comparison) -> list[str]:
    notes = []
    plan = comparison.plan
    if comparison.shared:
        notes.append(WORDS["compare.note.shared"].format(n=comparison.shared, all=len(comparison.runs)))
    if deciles := unsteady(comparison):
        notes.append(WORDS["compare.note.unsteady"].format(low=deciles[0], high=deciles[1]))
    if comparison.known:
        key = "compare.note.known" if len(plan.questions) == 1 else "compare.note.known_some"
        notes.append(
            WORDS[key].format(store=plan.common.datastore, n=len(comparison.known), all=len(plan.questions))
        )  # fmt: skip
    if comparison.skipped:
        reason = next(iter(comparison.skipped.values()))
        notes.append(WORDS["compare.note.skipped"].format(n=len(comparison.skipped), reason=reason))
    return notes


def _sameness(comparison: Comparison, lanes: list[LaneFigures]) -> dict[str, str]:
    """Whether the texts are plain decoding's: {"state": "same" | "tie" | "differs" | "law", "text": sentences}."""
    others = [lane for lane in lanes if not lane.is_yardstick]
    judged = [lane for lane in others if not lane.law_only]
    law = [lane.lane.name for lane in others if lane.law_only]
    sentences = []
    state = "same" if judged else "law"
    differing = [(lane, difference) for lane in judged for difference in lane.differences]
    compared = sum(lane.answers for lane in judged)
    if differing:
        worst = max(differing, key=lambda each: 1.0 if each[1].gap is None else each[1].gap)
        kind = _explained_by(worst[1], comparison)
        state = "differs" if kind == "differs" else "tie"
        sentences.append(_difference(comparison, *worst, kind))
        if len(differing) > 1:
            sentences.append(WORDS["compare.same.more"].format(differ=len(differing), n=compared))
    elif judged:
        sentences.append(WORDS["compare.same.all"].format(n=compared))
    if law:
        sentences.append(WORDS["compare.same.law"].format(names=", ".join(law)))
    return {"state": state, "text": " ".join(sentences)}


def _explained_by(difference: Difference, comparison: Comparison) -> str:
    """ "tie", "coin" where the texts were sampled, or "differs" where rounding is no explanation."""
    if comparison.dtype == "float32" or difference.gap is None:
        return "differs"
    if comparison.plan.common.temperature > 0:
        return "coin"
    return "tie" if difference.gap <= TIE else "differs"


def _difference(comparison: Comparison, lane: LaneFigures, difference: Difference, kind: str) -> str:
    runs = [run for run in comparison.runs if run.pair == difference.pair]
    own = next(run for run in runs if comparison.plan.lanes[run.step.lane] == lane.lane)
    plain = next(run for run in runs if run.step.lane == 0)
    gap = difference.gap
    return WORDS[f"compare.same.{kind}"].format(
        name=lane.lane.name,
        position=difference.position + 1,
        token=_token(own, difference.token),
        p=_probability(difference.p),
        plain=_token(plain, difference.plain_token),
        plain_p=_probability(difference.plain_p),
        gap=_probability(gap),
        dtype=comparison.dtype,
    )


def _token(run: Run, token: int | None) -> str:
    if token is None:
        return WORDS["compare.same.ended"]
    shown = piece(run.trace.token_bytes[token])
    return shown if isinstance(shown, str) else " ".join(f"{byte:02X}" for byte in shown)


def _probability(p: float | None) -> str:
    return WORDS["figure.none"] if p is None else f"{p:.4f}"


def _speed_verdict(lanes: list[LaneFigures]) -> str:
    others = [(lane, lane.ratio.median) for lane in lanes if lane.ratio and not lane.is_yardstick]
    if not others:
        return WORDS["compare.speed.none"]
    fastest, ratio = max(others, key=lambda each: each[1])
    key = "compare.speed.faster" if ratio > 1 + SAME_SPEED else "compare.speed.same"
    said = WORDS[key].format(name=fastest.lane.name, ratio=ratio)
    slower = [f"{lane.lane.name} ({ratio:.2f}×)" for lane, ratio in others if ratio < 1 - SAME_SPEED]
    if slower:
        said += WORDS["compare.speed.slower"].format(names=", ".join(slower))
    answers = min(lane.answers for lane in lanes)
    if answers == 1:
        return said + WORDS["compare.speed.single"]
    return said + (WORDS["compare.speed.median"].format(n=answers) if answers >= QUARTILES_FROM else "")


def _forward_verdict(lanes: list[LaneFigures]) -> str:
    others = [(lane, lane.per_forward.median) for lane in lanes if lane.per_forward and not lane.is_yardstick]
    best = max(others, key=lambda each: each[1], default=None)
    if best is None or best[1] <= 1:
        return WORDS["compare.forward.none"]
    said = WORDS["compare.forward.best"].format(name=best[0].lane.name, per_forward=best[1])
    return said if _fastest(lanes) == best[0] else said + WORDS["compare.forward.dear"]


def _fastest(lanes: list[LaneFigures]) -> LaneFigures | None:
    return max(lanes, key=lambda lane: lane.ratio.median if lane.ratio else 0.0, default=None)


def _places_verdict(lanes: list[LaneFigures]) -> str:
    guessing = [lane for lane in lanes if lane.places]
    if not guessing:
        return WORDS["compare.places.none"]
    best = max(guessing, key=lambda lane: lane.accepted)
    depth = sum(place.drafted >= ENOUGH for place in best.places[:PLACES])  # fewer rounds guess further ahead
    key = "compare.places.told" if depth > 1 else "compare.places.one"
    return WORDS[key].format(
        name=best.lane.name, first=best.places[0].share, depth=depth, last=best.places[depth - 1].share
    )
