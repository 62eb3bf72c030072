"""A trace, whole or still growing, summed up in figures. The one place that says how things are counted.

* Round 0 is the prefill: its bonus is the first token. Every later round is one decode forward.
* Rates leave the prefill and the first token out; `seconds` and `target_forwards` include the prefill.
* A figure that has nothing to measure yet is None, never zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from sssd_demo.trace import Round, Trace


@dataclass(frozen=True)
class Summary:
    """What one answer came to. Times are as the answer's own rounds tell them; waiting in a queue is not in."""

    tokens: int
    rounds: int
    target_forwards: int
    tokens_per_forward: float | None  # tokens after the first ÷ decode forwards
    seconds: float | None  # start of the first prefill forward to the last token
    decode_seconds: float | None  # end of the prefill to the last token
    tokens_per_second: float | None  # tokens after the first ÷ decode_seconds
    ttft_ms: float | None  # start of the first prefill forward to the first token
    tpot_ms: float | None  # decode time per token after the first
    draft_ms: float | None  # median over decode rounds
    verify_ms: float | None  # median over decode rounds
    drafted: int
    accepted: int
    rejected: int
    ignored: int
    drafted_by_position: tuple[int, ...]  # entry d - 1: rounds that had a candidate at depth d, withheld ones apart
    accepted_by_position: tuple[int, ...]  # entry d - 1: rounds whose accepted path reached depth d
    withheld: int = 0  # drafted from a store whose text is not shown, and not accepted


def summarise(trace: Trace, prefill_forwards: int = 1) -> Summary:
    """Sum up `trace`; `prefill_forwards` is the number of target forwards that read the prompt."""
    rounds = trace.rounds
    decode = rounds[1:]
    tokens = len(trace.token_ids())
    decode_tokens = sum(len(round_.committed) for round_ in decode)
    seconds = (rounds[-1].end_ms - rounds[0].start_ms) / 1000 if rounds else None
    decode_seconds = (rounds[-1].end_ms - rounds[0].end_ms) / 1000 if decode else None
    fates = [fate for round_ in rounds for fate in round_.tree.fates]
    withheld = sum(round_.withheld for round_ in rounds)
    drafted_by_position, accepted_by_position = _by_position(rounds)
    return Summary(
        tokens=tokens,
        rounds=len(rounds),
        target_forwards=prefill_forwards + len(decode) if rounds else 0,
        tokens_per_forward=_ratio(decode_tokens, len(decode)),
        seconds=seconds,
        decode_seconds=decode_seconds,
        tokens_per_second=_ratio(decode_tokens, decode_seconds),
        ttft_ms=rounds[0].end_ms - rounds[0].start_ms if rounds else None,
        tpot_ms=_ratio(1000 * decode_seconds, decode_tokens) if decode_seconds is not None else None,
        draft_ms=median(round_.draft_ms for round_ in decode) if decode else None,
        verify_ms=median(round_.verify_ms for round_ in decode) if decode else None,
        drafted=len(fates) + withheld,
        accepted=fates.count("accepted"),
        rejected=fates.count("rejected"),
        ignored=fates.count("ignored"),
        drafted_by_position=drafted_by_position,
        accepted_by_position=accepted_by_position,
        withheld=withheld,
    )


def _ratio(value: float, by: float | None) -> float | None:
    return value / by if by else None


def _by_position(rounds: tuple[Round, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    drafted: list[int] = []
    accepted: list[int] = []
    for round_ in rounds:
        depths = round_.tree.depths()
        deepest = max(depths, default=0)
        missing = deepest - len(drafted)
        drafted.extend([0] * missing)
        accepted.extend([0] * missing)
        for position in range(deepest):  # a node at depth d has ancestors at every depth above
            drafted[position] += 1
        for node in round_.tree.accepted_path():
            accepted[depths[node] - 1] += 1
    return tuple(drafted), tuple(accepted)
