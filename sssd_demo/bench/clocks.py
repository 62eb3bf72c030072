"""What preparing drafts ahead was worth: hits, and speed by both clocks. The two are never mixed in one number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sssd_demo.bench.figures import Sample, spread
from sssd_demo.saguaro.alone_times import AloneTimes
from sssd_demo.saguaro.summary import summarise_cache
from sssd_demo.saguaro.two_devices import asynchronous, synchronous
from sssd_demo.trace import Trace

Speeds = dict[tuple[str, int, int], float]  # tokens per second by question, turn and repeat
IN_TURN = "speculative"


def clock_figures(
    samples: Sequence[Sample], methods: Mapping[str, str], alone: AloneTimes
) -> dict[str, dict[str, Any]]:
    """{lane: {measured, two_devices, cache}} for the lanes, by name with their method, that draft with a draft model.

    Each clock has tokens per second and their ratio to standard speculative decoding, answer by answer, against the
    lane of it that is the fastest by that same clock.
    """
    lanes = {name for name, method in methods.items() if method == IN_TURN or _traces(samples, name, cached=True)}
    clocks = {
        "measured": {lane: _measured(samples, lane) for lane in lanes},
        "two_devices": {lane: _two_devices(samples, lane, methods[lane], alone) for lane in lanes},
    }
    result: dict[str, dict[str, Any]] = {lane: {} for lane in sorted(lanes)}
    for clock, speeds in clocks.items():
        rivals = [lane for lane in lanes if methods[lane] == IN_TURN and speeds[lane]]
        best = max(rivals, key=lambda lane: sum(speeds[lane].values()), default=None)
        for lane in result:
            own = speeds[lane]
            figures: dict[str, Any] = {"tokens_per_second": spread(own.values())}
            if best is not None:
                theirs = speeds[best]
                figures["speedup_vs_speculative"] = spread(own[pair] / theirs[pair] for pair in own if pair in theirs)
                figures["speculative"] = best
            result[lane][clock] = figures
    for lane in result:
        cache = summarise_cache(_traces(samples, lane, cached=True))
        if cache is not None:
            result[lane]["cache"] = {
                "hit_rate": cache.hit_rate,
                "rolled_back": cache.rolled_back,
                "rounds": cache.all.rounds,
                "hit_rate_by_accepted": {str(k): tally.rate for k, tally in cache.by_k.items()},
                "fallbacks": dict(cache.fallbacks),
                "reasons": dict(cache.reasons),
                "wait_ms": cache.wait_ms,
                "drafter_busy": cache.drafter_busy,
                "target_busy": cache.target_busy,
            }
    return result


def _traces(samples: Sequence[Sample], lane: str, *, cached: bool) -> list[Trace]:
    traces = [sample.reply.trace for sample in samples if sample.lane == lane and sample.reply.trace is not None]
    return [trace for trace in traces if not cached or any(round_.saguaro for round_ in trace.rounds)]


def _measured(samples: Sequence[Sample], lane: str) -> Speeds:
    own = [sample for sample in samples if sample.lane == lane]
    return {sample.pair: speed for sample in own if (speed := sample.reply.summary.tokens_per_second)}


def _two_devices(samples: Sequence[Sample], lane: str, method: str, alone: AloneTimes) -> Speeds:
    """Answers of one batch shared their forwards, so each is laid out beside the others of its question group."""
    lay = synchronous if method == IN_TURN else asynchronous
    speeds: Speeds = {}
    own = [sample for sample in samples if sample.lane == lane and sample.reply.trace is not None]
    for sample in own:
        trace = sample.reply.trace
        assert trace is not None
        beside = [other.reply.trace for other in own if other is not sample and _overlap(trace, other.reply.trace)]
        speed = lay(trace, alone, beside=[each for each in beside if each is not None]).tokens_per_second
        if speed:
            speeds[sample.pair] = speed
    return speeds


def _overlap(one: Trace, other: Trace | None) -> bool:
    """Whether two answers were written at the same time, on the clock of the same engine."""
    if other is None or not one.rounds or not other.rounds:
        return False
    return one.rounds[0].start_ms < other.rounds[-1].end_ms and other.rounds[0].start_ms < one.rounds[-1].end_ms
