"""A Saguaro run → bars, curves and tables under its picture: where outcomes were foreseen; a sweep → its curve."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from sssd_demo.saguaro.power_law import LEAST_RANKS, PowerLaw, fit, tail
from sssd_demo.saguaro.summary import CacheSummary, Latency, Tally
from sssd_demo.ui.figures import ms
from sssd_demo.ui.roofline_chart import Axis, Chart, Series
from sssd_demo.ui.saguaro_found import CLOCKS, Found, SweepPoint
from sssd_demo.ui.words import WORDS

WIDE = 16  # fan-outs beyond this are drawn on a logarithmic axis
MOST_RANKS = 8  # bars; higher ranks share the last one


def figures(found: Found | None) -> dict[str, Any]:
    """Panels of bars, the tail of ranks, and how long rounds took."""
    cache = found.cache if found else None
    if found is None or cache is None or not cache.all.rounds:
        return {"panels": [], "charts": [], "tables": [], "notes": []}
    law = fit(cache.ranks)
    return {
        "panels": [
            _by(cache.by_k, "k"),
            _by(cache.by_fan_out, "fan_out"),
            _ranks(cache),
            _fallbacks(cache),
        ],
        "charts": [_tail(cache, law).value()],
        "tables": [_latencies(cache), _busy(found, cache)],
        "notes": [WORDS["sag.figures.note"]],
    }


def sweep_figures(points: Iterable[SweepPoint], now: str = "", share: float | None = None) -> dict[str, Any]:
    """Hit rate against acceptance while C falls."""
    found = sorted(points, key=lambda point: -point.c)
    value: dict[str, Any] = {"now": now, "charts": [], "table": None, "notes": []}
    if share is not None:
        value["share"] = round(share, 3)
    if not found:
        return value
    chart = Chart(
        WORDS["sag.sweep.title"],
        Axis(WORDS["sag.sweep.x"], low=0, high=1),
        Axis(WORDS["sag.sweep.y"], low=0, high=1),
        [
            Series(
                [(point.acceptance, point.hit_rate) for point in found],
                "first",
                shape="circle",
                labels=[f"C {point.c:g}" for point in found],
            )
        ],
        said=_sweep_said(found),
    )
    table = {
        "head": [WORDS[f"sag.sweep.{name}"] for name in ("c", "hits", "accepted", "per_forward")],
        "rows": [
            [
                f"{point.c:g}",
                _share_text(point.hits, point.rounds),
                _share_text(point.accepted, point.tested),
                f"{point.tokens_per_forward:.2f}",
            ]
            for point in found
        ],
    }
    return {**value, "charts": [chart.value()], "table": table}


def _sweep_said(found: list[SweepPoint]) -> str:
    if len(found) < 2:
        return ""
    first, last = found[0], found[-1]
    return WORDS["sag.sweep.said"].format(
        c=first.c,
        low=last.c,
        hits=first.hit_rate,
        low_hits=last.hit_rate,
        accepted=first.acceptance,
        low_accepted=last.acceptance,
    )


def _by(tallies: Mapping[int, Tally], name: str) -> dict[str, Any]:
    bars = [_bar(WORDS[f"sag.bar.{name}"].format(n=key), tally) for key, tally in tallies.items()]
    return {"title": WORDS[f"sag.panel.{name}"], "bars": bars, "said": WORDS[f"sag.panel.{name}.said"]}


def _bar(label: str, tally: Tally) -> dict[str, Any]:
    return {"label": label, "share": tally.rate or 0.0, "value": _share_text(tally.hits, tally.rounds)}


def _ranks(cache: CacheSummary) -> dict[str, Any]:
    counts = Counter(min(rank, MOST_RANKS) for rank in cache.ranks)
    most = max(counts.values(), default=1)
    names = {rank: str(rank) for rank in range(1, MOST_RANKS)} | {MOST_RANKS: f"≥ {MOST_RANKS}"}
    bars = [
        {"label": names[rank], "share": counts[rank] / most, "value": str(counts[rank])}
        for rank in range(1, (max(counts) if counts else 0) + 1)
    ]
    said = WORDS["sag.panel.ranks.said"]
    if cache.unranked:
        said += " " + WORDS["sag.panel.ranks.without"].format(n=cache.unranked)
    return {"title": WORDS["sag.panel.ranks"], "bars": bars, "said": said}


def _fallbacks(cache: CacheSummary) -> dict[str, Any]:
    served = [(WORDS[f"sag.fallback.{name}"], count) for name, count in cache.fallbacks.items()]
    why = [(WORDS["sag.bar.why"].format(why=WORDS[f"sag.why.{name}"]), count) for name, count in cache.reasons.items()]
    most = max([1, *(count for _, count in [*served, *why])])
    bars = [{"label": label, "share": count / most, "value": str(count)} for label, count in [*served, *why]]
    return {"title": WORDS["sag.panel.fallbacks"], "bars": bars, "said": WORDS["sag.panel.fallbacks.said"]}


def _tail(cache: CacheSummary, law: PowerLaw | None) -> Chart:
    points = tail(cache.ranks)
    series = []
    if points:
        series.append(Series(points, "first", WORDS["sag.tail.measured"], shape="circle", line=False))
    if law is not None and points:
        curve = [(fan_out, law.missed(fan_out)) for fan_out, _ in points]
        series.append(Series(curve, "second is-planned", WORDS["sag.tail.law"].format(c=law.c, r=law.r)))
    said = (
        WORDS["sag.tail.said"].format(c=law.c, r=law.r, n=law.ranks)
        if law is not None
        else WORDS["sag.tail.few"].format(n=len(cache.ranks), least=LEAST_RANKS)
    )
    last = max((fan_out for fan_out, _ in points), default=4)
    return Chart(
        WORDS["sag.tail.title"],
        Axis(WORDS["sag.tail.x"], "log" if last > WIDE else "linear", low=1, high=max(4, last) * 1.05),
        Axis(WORDS["sag.tail.y"], low=0, high=max([0.2, *(share for _, share in points)]) * 1.15),
        series,
        said=said,
        note="" if points else WORDS["sag.tail.none"],
    )


def _latencies(cache: CacheSummary) -> dict[str, Any]:
    rows = [
        [WORDS["sag.times.hits"], *_latency(cache.hit_latency)],
        [WORDS["sag.times.misses"], *_latency(cache.miss_latency)],
    ]
    return {"head": [WORDS[f"sag.times.{name}"] for name in ("what", "rounds", "p50", "p95")], "rows": rows}


def _latency(latency: Latency) -> list[str]:
    return [str(latency.rounds), ms(latency.p50), ms(latency.p95)]


def _busy(found: Found, cache: CacheSummary) -> dict[str, Any]:
    clocked = found.clock("computed")
    there = clocked.ahead if clocked else None
    rows = [
        [WORDS["sag.times.drafter"], _percent(cache.drafter_busy), _percent(there.share("drafter") if there else None)],
        [WORDS["sag.times.target"], _percent(cache.target_busy), _percent(there.share("target") if there else None)],
        [WORDS["sag.times.waited"], ms(cache.wait_ms), ms(there.total_of("wait") if there else None)],
        [WORDS["sag.times.ngrams"], ms(cache.ngrams_ms), ms(there.total_of("backup") if there else None)],
        [WORDS["sag.times.exposed"], ms(cache.ngrams_exposed_ms), WORDS["figure.none"]],
    ]
    head = [WORDS["sag.times.busy"], *(WORDS[f"sag.clock.{name}"] for name in CLOCKS)]
    return {"head": head, "rows": rows}


def _share_text(part: int, whole: int) -> str:
    return WORDS["sag.share"].format(share=part / whole if whole else 0.0, part=part, whole=whole)


def _percent(share: float | None) -> str:
    return WORDS["figure.none"] if share is None else f"{share:.0%}"
