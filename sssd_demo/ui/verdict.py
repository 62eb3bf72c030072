"""One honest sentence about an answer: what speculation did for it, or why it did nothing."""

from __future__ import annotations

from collections import Counter

from sssd_demo.metrics import Summary
from sssd_demo.trace import Source, Trace
from sssd_demo.ui.words import WORDS

SAME_SPEED = 0.03  # a ratio this close to 1 is within what two measurements of the same thing differ by


def verdict(trace: Trace, summary: Summary, ratio: float | None) -> str:
    """The sentence for a finished `trace`; `ratio` is its speed over plain decoding's, if that is known."""
    stopped = WORDS["verdict.stopped"].format(tokens=summary.tokens) if trace.finish_reason == "cancelled" else ""
    return " ".join(filter(None, [stopped, _what_happened(trace, summary, ratio)]))


def _what_happened(trace: Trace, summary: Summary, ratio: float | None) -> str:
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
        source=WORDS[f"verdict.source.{_main_source(trace)}"],
    )
    return f"{_speed(ratio)} {told}".strip()


def _speed(ratio: float | None) -> str:
    if ratio is None:
        return ""
    if abs(ratio - 1) <= SAME_SPEED:
        return WORDS["verdict.same"].format(ratio=ratio)
    return WORDS["verdict.faster" if ratio > 1 else "verdict.slower"].format(ratio=ratio)


def _main_source(trace: Trace) -> Source:
    counts = Counter(round_.tree.sources[node] for round_ in trace.rounds for node in round_.tree.accepted_path())
    return counts.most_common(1)[0][0]
