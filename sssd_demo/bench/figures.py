"""Samples → the figures to report. Ratios are taken answer by answer, never between averages."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from statistics import fmean, quantiles
from typing import Any

from sssd_demo.bench import BASELINE
from sssd_demo.bench.lanes import Reply
from sssd_demo.metrics import Summary
from sssd_demo.questions import Question


@dataclass(frozen=True)
class Sample:
    """One answer of one lane to one turn of a question."""

    lane: str
    question: Question
    turn: int
    repeat: int
    reply: Reply

    @property
    def pair(self) -> tuple[str, int, int]:
        """Equal for answers of different lanes that are to be compared."""
        return self.question.id, self.turn, self.repeat


def spread(values: Iterable[float | None]) -> dict[str, float] | None:
    """{mean, median, p25, p75} of those values that there are; None if there are none."""
    found = [value for value in values if value is not None]
    if not found:
        return None
    # One value has no quartiles; twice the same one has.
    p25, middle, p75 = quantiles(found if len(found) > 1 else found * 2, n=4, method="inclusive")
    return {"mean": fmean(found), "median": middle, "p25": p25, "p75": p75}


def report(samples: Sequence[Sample], lanes: Sequence[str], law_only: Container[str] = ()) -> dict[str, Any]:
    """{lane: {overall: figures, categories: {group: figures}}}, each lane against the baseline's samples.

    Texts are compared token for token, sampled ones too: coins are keyed by position, so point-mass drafts change no
    text. Lanes in `law_only` sample their drafts and promise only the same law, which texts cannot tell.
    """
    baseline = {sample.pair: sample.reply for sample in samples if sample.lane == BASELINE}
    result = {}
    for lane in lanes:
        own = [sample for sample in samples if sample.lane == lane]
        groups = dict.fromkeys(sample.question.group for sample in own)
        result[lane] = {
            "overall": _figures(own, baseline, lane in law_only),
            "categories": {
                group: _figures([one for one in own if one.question.group == group], baseline, lane in law_only)
                for group in groups
            },
        }
    return result


def _figures(samples: Sequence[Sample], baseline: dict[tuple[str, int, int], Reply], law_only: bool) -> dict[str, Any]:
    summaries = [sample.reply.summary for sample in samples]
    compared = () if law_only else samples
    differences = [difference for sample in compared if (difference := _difference(sample, baseline[sample.pair]))]
    return {
        "answers": len(samples),
        "tokens": sum(summary.tokens for summary in summaries),
        "tokens_per_second": spread(summary.tokens_per_second for summary in summaries),
        "tokens_per_forward": spread(summary.tokens_per_forward for summary in summaries),
        "speedup_vs_autoregressive": spread(_speedup(sample, baseline[sample.pair]) for sample in samples),
        "draft_ms": spread(summary.draft_ms for summary in summaries),
        "verify_ms": spread(summary.verify_ms for summary in summaries),
        "ttft_ms": spread(summary.ttft_ms for summary in summaries),
        "tpot_ms": spread(summary.tpot_ms for summary in summaries),
        "drafted": sum(summary.drafted for summary in summaries),
        "accepted": sum(summary.accepted for summary in summaries),
        "rejected": sum(summary.rejected for summary in summaries),
        "ignored": sum(summary.ignored for summary in summaries),
        "acceptance_by_position": _acceptance(summaries),
        "identical_to_autoregressive": None if law_only else not differences,
        "differences": differences,
    }


def _acceptance(summaries: Sequence[Summary]) -> list[float]:
    """Entry d − 1: of the rounds with a draft of d tokens or more, the share whose accepted path reached depth d."""
    drafted = zip_longest(*(summary.drafted_by_position for summary in summaries), fillvalue=0)
    accepted = zip_longest(*(summary.accepted_by_position for summary in summaries), fillvalue=0)
    return [sum(reached) / sum(rounds) for reached, rounds in zip(accepted, drafted, strict=True)]


def _speedup(sample: Sample, baseline: Reply) -> float | None:
    ours, theirs = sample.reply.summary.tokens_per_second, baseline.summary.tokens_per_second
    return ours / theirs if ours and theirs else None


def _difference(sample: Sample, baseline: Reply) -> dict[str, Any] | None:
    """Where the answer leaves the baseline's: the first token that is not the same, and how likely each one was.

    Two probabilities that are all but equal are a tie that rounding decided.
    """
    pairs = enumerate(zip_longest(sample.reply.token_ids, baseline.token_ids))
    position = next((position for position, (ours, theirs) in pairs if ours != theirs), None)
    if position is None:
        return None
    question_id, turn, repeat = sample.pair
    return {
        "question_id": question_id,
        "turn": turn,
        "repeat": repeat,
        "position": position,
        "probability": _at(sample.reply.probs, position),
        "probability_autoregressive": _at(baseline.probs, position),
    }


def _at(probs: tuple[float, ...], position: int) -> float | None:
    return probs[position] if position < len(probs) else None
