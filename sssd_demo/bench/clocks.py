"""What preparing drafts ahead was worth: hits, and speed by both clocks. The two are never mixed in one number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sssd_demo.bench import BASELINE
from sssd_demo.bench.figures import Sample, spread
from sssd_demo.saguaro.alone_times import AloneTimes
from sssd_demo.saguaro.prediction import inputs
from sssd_demo.saguaro.summary import summarise_cache
from sssd_demo.saguaro.timeline import Timeline, measured
from sssd_demo.saguaro.two_devices import asynchronous, synchronous
from sssd_demo.service import Settings
from sssd_demo.trace import Trace

Pair = tuple[str, int, int]  # question, turn and repeat
Speeds = dict[Pair, float]  # tokens per second
Timelines = dict[Pair, Timeline]
IN_TURN = "speculative"


def clock_figures(
    samples: Sequence[Sample], settings: Mapping[str, Settings], alone: AloneTimes
) -> dict[str, dict[str, Any]]:
    """{lane: {measured, two_devices, cache}} for the lanes, by name, that draft with a draft model.

    Each clock has tokens per second and their ratios, answer by answer: to plain decoding, and to standard speculative
    decoding in its lane that is the fastest by that same clock. What prepares ahead has also what `prediction.py` says
    of the latter's lane with the same drafts, and of plain decoding, next to what they were.
    """
    drafting = {name for name, one in settings.items() if one.method == IN_TURN or _traces(samples, name, cached=True)}
    lanes = sorted(drafting | {BASELINE} & settings.keys())
    clocks: dict[str, dict[str, Timelines]] = {
        "measured": {lane: _measured(samples, lane) for lane in lanes},
        "two_devices": {lane: _two_devices(samples, lane, settings[lane].method, alone) for lane in lanes},
    }
    result: dict[str, dict[str, Any]] = {lane: {} for lane in sorted(drafting)}
    for clock, timelines in clocks.items():
        speeds = {lane: _speeds(laid) for lane, laid in timelines.items()}
        rivals = [lane for lane in lanes if settings[lane].method == IN_TURN and speeds[lane]]
        best = max(rivals, key=lambda lane: sum(speeds[lane].values()), default=None)
        for lane in result:
            figures: dict[str, Any] = {"tokens_per_second": spread(speeds[lane].values())}
            if BASELINE in speeds:
                figures["speedup_vs_autoregressive"] = _ratio(speeds[lane], speeds[BASELINE])
            if best is not None:
                figures["speedup_vs_speculative"] = _ratio(speeds[lane], speeds[best])
                figures["speculative"] = best
            same = next((other for other in rivals if _drafts_alike(settings[other], settings[lane])), None)
            if same is not None and settings[lane].method != IN_TURN:
                figures["prediction"] = {
                    "speculative": same,
                    "speedup_vs_speculative": _ratio(speeds[lane], speeds[same]),
                    **_predicted(samples, lane, timelines[lane], timelines[same]),
                }
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
                "ngrams_ms": cache.ngrams_ms,
                "ngrams_exposed_ms": cache.ngrams_exposed_ms,
                "drafter_busy": cache.drafter_busy,
                "target_busy": cache.target_busy,
            }
    return result


def _drafts_alike(one: Settings, other: Settings) -> bool:
    return (one.k, one.rule, one.draft_temperature) == (other.k, other.rule, other.draft_temperature)


def _predicted(samples: Sequence[Sample], lane: str, ahead: Timelines, in_turn: Timelines) -> dict[str, Any]:
    """What the formulas say, and d and s of them: times are in verifications of drafting in turn."""
    found = [
        known
        for sample in samples
        if sample.lane == lane and sample.reply.trace and sample.pair in ahead and sample.pair in in_turn
        if (known := inputs(sample.reply.trace, ahead[sample.pair], in_turn[sample.pair]))
    ]
    return {
        "predicted_vs_speculative": spread(each.against_in_turn for each in found),
        "predicted_vs_autoregressive": spread(each.against_plain for each in found),
        "draft_in_verifications": spread(each.d for each in found),
        "verification_slowed": spread(each.s for each in found),
    }


def _speeds(laid: Timelines) -> Speeds:
    return {pair: speed for pair, timeline in laid.items() if (speed := timeline.tokens_per_second)}


def _ratio(own: Speeds, theirs: Speeds) -> dict[str, float] | None:
    return spread(own[pair] / theirs[pair] for pair in own if pair in theirs)


def _traces(samples: Sequence[Sample], lane: str, *, cached: bool) -> list[Trace]:
    traces = [sample.reply.trace for sample in samples if sample.lane == lane and sample.reply.trace is not None]
    return [trace for trace in traces if not cached or any(round_.saguaro for round_ in trace.rounds)]


def _measured(samples: Sequence[Sample], lane: str) -> Timelines:
    own = [(sample.pair, sample.reply.trace) for sample in samples if sample.lane == lane and sample.reply.trace]
    return {pair: timeline for pair, trace in own if (timeline := measured(trace))}


def _two_devices(samples: Sequence[Sample], lane: str, method: str, alone: AloneTimes) -> Timelines:
    """Answers of one batch shared their forwards, so each is laid out beside the others of its question group."""
    lay = synchronous if method in (IN_TURN, BASELINE) else asynchronous
    laid: Timelines = {}
    own = [sample for sample in samples if sample.lane == lane and sample.reply.trace is not None]
    for sample in own:
        trace = sample.reply.trace
        assert trace is not None
        beside = [other.reply.trace for other in own if other is not sample and _overlap(trace, other.reply.trace)]
        laid[sample.pair] = lay(trace, alone, beside=[each for each in beside if each is not None])
    return laid


def _overlap(one: Trace, other: Trace | None) -> bool:
    """Whether two answers were written at the same time, on the clock of the same engine."""
    if other is None or not one.rounds or not other.rounds:
        return False
    return one.rounds[0].start_ms < other.rounds[-1].end_ms and other.rounds[0].start_ms < one.rounds[-1].end_ms
