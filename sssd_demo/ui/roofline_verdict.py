"""What a batch that was run came to, in sentences: the gain, whether the plan held, and if not, why not."""

from __future__ import annotations

from math import log

from sssd_demo.batch_run import BatchResult
from sssd_demo.ui.roofline_board import PLAIN, Board, Measured
from sssd_demo.ui.roofline_job import sequences
from sssd_demo.ui.words import WORDS

HOLDS = 0.15  # a plan this close to the truth holds
EVEN = 0.03  # a gain this small is within what two measurements of the same thing differ by
FAR = 2.0  # a plan this far off is told in times, not per cent
MATTERS = 0.03  # of a round's time; less is not worth a word


def gain_sentence(board: Board, method: str, batch: int) -> str:
    """The gain at one batch size, and what the plan said; nothing unless it was measured against plain decoding."""
    gain = board.gain(method, batch)
    if gain is None:
        return ""
    measured = board.measured[method, batch]
    key = "verdict_even" if abs(gain - 1) <= EVEN else "verdict" if gain > 1 else "verdict_loses"
    told = WORDS[f"roof.run.{key}"].format(
        batch=sequences(batch),
        method=method,
        speed=measured.result.tokens_per_second,
        plain=board.measured[PLAIN, batch].result.tokens_per_second,
        ratio=gain,
    )
    if key == "verdict_loses":
        told += _drafting(measured.result)
    return told + plan_sentence(measured)


def _drafting(result: BatchResult) -> str:
    """What drafting took of a round, where that is worth a word."""
    took = result.draft_ms + result.verify_ms + result.beside_ms
    if result.draft_ms <= MATTERS * took:
        return ""
    return WORDS["roof.run.drafting"].format(took=took, ms=result.draft_ms)


def plan_sentence(measured: Measured) -> str:
    """Whether the plan held; if it did not, what was furthest from it."""
    result, plan = measured.result, measured.plan
    if plan is None:
        return WORDS["roof.run.no_plan"]
    off = plan.tokens_per_second / result.tokens_per_second - 1
    side = "none" if abs(off) < 0.005 else "times" if off > FAR else "high" if off > 0 else "low"
    agrees = abs(result.tokens_per_second / plan.tokens_per_second - 1) <= HOLDS
    told = WORDS["roof.run.agrees" if agrees else "roof.run.disagrees"].format(
        planned=plan.tokens_per_second, off=WORDS[f"roof.run.off.{side}"].format(share=abs(off), times=1 + off)
    )
    return told if agrees else told + _because(measured)


def _because(measured: Measured) -> str:
    """The speed is tokens by time, so the reason is whichever of the two is further from its plan."""
    result, plan = measured.result, measured.plan
    assert plan is not None
    took = result.tokens_per_forward * result.batch / result.tokens_per_second  # seconds a round, everything included
    by_tokens = log(result.tokens_per_forward / plan.played.tokens)
    by_time = log(took / plan.round_seconds)
    if abs(by_tokens) > abs(by_time):
        key = "assumed" if measured.assumed else "fewer" if by_tokens < 0 else "more"
        return WORDS[f"roof.run.because.{key}"].format(tokens=result.tokens_per_forward, planned=plan.played.tokens)
    told = WORDS["roof.run.because.slow" if by_time > 0 else "roof.run.because.fast"].format(
        took=1000 * took, planned=1000 * plan.round_seconds
    )
    if result.under_load:
        return told + WORDS["roof.run.because.load"]
    beside = (result.draft_ms + result.beside_ms) / 1000 - plan.draft_seconds
    if by_time > 0 and beside > (took - plan.round_seconds) / 2:
        return told + WORDS["roof.run.because.drafting"].format(ms=result.draft_ms + result.beside_ms)
    if measured.quick:
        return told + WORDS["roof.run.because.quick"]
    return told + WORDS["roof.run.because.busy" if by_time > 0 else "roof.run.because.quiet"]


def gains_sentence(board: Board, method: str) -> str:
    """Where guessing pays and where it stops, over all batch sizes that were run."""
    gains = {batch: gain for batch in board.batches(method) if (gain := board.gain(method, batch)) is not None}
    if not gains:
        return WORDS["roof.said.planned_only"]
    if len(gains) == 1:
        return WORDS["roof.said.one_only"].format(batch=sequences(next(iter(gains))))
    winning = [batch for batch, gain in gains.items() if gain > 1 + EVEN]
    losing = [batch for batch in gains if batch not in winning]
    if not losing:
        return WORDS["roof.said.gain_always"].format(least=min(gains.values()), most=max(gains.values()))
    if not winning:
        return WORDS["roof.said.gain_never"].format(most=max(gains.values()))
    if max(winning) < min(losing):
        beyond = min(losing)
        return WORDS["roof.said.gain_until"].format(batch=sequences(max(winning)), beyond=beyond, ratio=gains[beyond])
    return WORDS["roof.said.gain_mixed"].format(gains=", ".join(map(str, winning)))
