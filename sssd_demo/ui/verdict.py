"""One honest sentence about an answer: what speculation did for it, or why it did nothing."""

from __future__ import annotations

from collections import Counter

from sssd_demo.metrics import Summary
from sssd_demo.trace import Source, Trace
from sssd_demo.ui.words import WORDS

SAME_SPEED = 0.03  # a ratio this close to 1 is within what two measurements of the same thing differ by


def verdict(trace: Trace, summary: Summary, ratio: float | None, busier_than_at: str | None = None) -> str:
    """The sentence for a finished `trace`; `ratio` is its speed over plain decoding's, if that is known.

    `busier_than_at` is when plain decoding was measured, if the machine was less busy then.
    """
    stopped = WORDS["verdict.stopped"].format(tokens=summary.tokens) if trace.finish_reason == "cancelled" else ""
    return " ".join(filter(None, [stopped, _what_happened(trace, summary, ratio, busier_than_at)]))


def _what_happened(trace: Trace, summary: Summary, ratio: float | None, busier_than_at: str | None) -> str:
    decode = trace.rounds[1:]
    if not decode:
        return WORDS["verdict.too_short"]
    if trace.method == "autoregressive":
        return WORDS["verdict.plain"]
    if all(round_.s_q == 1 for round_ in decode):
        return WORDS["verdict.switched_off"]
    if not summary.drafted:
        return WORDS["verdict.no_match"]
    if not summary.accepted:
        return WORDS["verdict.none_accepted"].format(drafted=summary.drafted)
    told = WORDS["verdict.why"].format(
        accepted=summary.accepted,
        tokens=summary.tokens,
        share=summary.accepted / summary.tokens,
        source=WORDS[f"source.{_main_source(trace)}"],
    )
    return f"{_speed(summary, ratio, busier_than_at)} {told}".strip()


def _speed(summary: Summary, ratio: float | None, busier_than_at: str | None) -> str:
    if ratio is None:
        return ""
    if abs(ratio - 1) <= SAME_SPEED:
        return WORDS["verdict.same"].format(ratio=ratio)
    if ratio > 1:
        return WORDS["verdict.faster"].format(ratio=ratio)
    return WORDS["verdict.busier" if busier_than_at else "verdict.slower"].format(
        ratio=ratio, per_forward=summary.tokens_per_forward, when=busier_than_at
    )


def _main_source(trace: Trace) -> Source:
    counts = Counter(round_.tree.sources[node] for round_ in trace.rounds for node in round_.tree.accepted_path())
    return counts.most_common(1)[0][0]
