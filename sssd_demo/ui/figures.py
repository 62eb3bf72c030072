"""A trace → the figures under the answer: speed against plain decoding measured here, counts, one sentence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sssd_demo.metrics import Summary, summarise
from sssd_demo.roofline import Profile
from sssd_demo.service import Service
from sssd_demo.trace import Trace
from sssd_demo.ui.busy import busier
from sssd_demo.ui.verdict import verdict
from sssd_demo.ui.words import WORDS


@dataclass(frozen=True)
class Yardstick:
    """Plain decoding on this machine with this model: its speed, and when it was measured, e.g. "14:02".

    `profile` says how much longer forwards of more than one token take.
    """

    tokens_per_second: float
    measured_at: str
    profile: Profile = field(default_factory=lambda: Profile({}))


def yardstick(service: Service | None) -> Yardstick | None:
    """What `service` last measured; None before there is a service or a measurement."""
    baseline = service.baseline() if service else None
    if service is None or baseline is None:
        return None
    return Yardstick(baseline.tokens_per_second, f"{baseline.measured_at:%H:%M}", service.profile)


def figures(trace: Trace, plain: Yardstick | None, *, recorded: bool = False) -> dict[str, Any]:
    """What the figures strip shows for `trace`, whole or growing. Without a yardstick there is no ratio.

    A recorded answer gets none: it may come from another machine.

    `recorded` says which it is, `main` holds [value, label] pairs, `counts` one line, `verdict` one sentence once
    the answer has ended.
    """
    summary = summarise(trace)
    ratio = speed_ratio(summary, plain)
    main = [
        [number(summary.tokens_per_forward, 2), WORDS["figure.per_forward"]],
        [number(summary.tokens_per_second, 1), WORDS["figure.per_second"]],
    ]
    if not recorded:
        main.append([number(ratio, 2, "×"), _ratio_label(plain)])
    return {
        "recorded": recorded,
        "main": main,
        "counts": _counts(summary),
        "verdict": verdict(trace, summary, ratio, _busier_than_at(trace, plain)) if trace.finish_reason else "",
    }


def speed_ratio(summary: Summary, plain: Yardstick | None) -> float | None:
    """How many times as fast as plain decoding here; None before there is something to compare."""
    if plain is None or not plain.tokens_per_second or summary.tokens_per_second is None:
        return None
    return summary.tokens_per_second / plain.tokens_per_second


def _busier_than_at(trace: Trace, plain: Yardstick | None) -> str | None:
    if plain is None or not busier(trace, 1000 / plain.tokens_per_second, plain.profile):
        return None
    return plain.measured_at


def number(value: float | None, digits: int, unit: str = "") -> str:
    """`value` with so many `digits` after the point and its `unit`, or a dash where there is none."""
    return WORDS["figure.none"] if value is None else f"{value:.{digits}f}{unit}"


def ms(value: float | None) -> str:
    """A time, or a dash where there is none."""
    return WORDS["figure.none"] if value is None else f"{value:,.1f} ms"


def _ratio_label(plain: Yardstick | None) -> str:
    if plain is None:
        return WORDS["figure.no_baseline"]
    return WORDS["figure.baseline"].format(speed=plain.tokens_per_second, when=plain.measured_at)


def _counts(summary: Summary) -> str:
    if summary.ttft_ms is None:
        return ""
    first = WORDS["figure.first"].format(first=summary.ttft_ms)
    if summary.rounds == 1:
        return first
    counts = WORDS["figure.counts"].format(
        first=first,
        tokens=summary.tokens - 1,  # as in tokens per forward: without the prompt's forward and its token
        forwards=summary.rounds - 1,
        drafted=summary.drafted,
        accepted=summary.accepted,
        rejected=summary.rejected,
        ignored=summary.ignored,
    )
    return counts + (WORDS["figure.withheld"].format(n=summary.withheld) if summary.withheld else "")
