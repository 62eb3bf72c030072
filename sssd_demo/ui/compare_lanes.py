"""A comparison, whole or running → what the lanes and the race draw: one token view a method, all on one clock.

Drawn by `static/compare_lanes.js`; a lane's answer is an `answer_payload.py` payload, so that the same scripts draw it
as in the Chat tab.
"""

from __future__ import annotations

from typing import Any

from sssd_demo.compare.comparing import OVER, Progress
from sssd_demo.compare.comparison import Comparison, Run
from sssd_demo.compare.figures import drafts_are_drawn, first_difference, speed_ratio
from sssd_demo.compare.plan import Step
from sssd_demo.trace import Trace
from sssd_demo.ui.answer_payload import AnswerPayload, readable_date
from sssd_demo.ui.measuring import asked, queued
from sssd_demo.ui.verdict import verdict
from sssd_demo.ui.words import WORDS

Pair = tuple[int, int]  # (question, repeat)


class LanesDrawing:
    """Draws the lanes of one comparison. Keeps what it has drawn of an answer: payloads grow at their ends only."""

    def __init__(self, end_tokens: frozenset[int] = frozenset()) -> None:
        self._end_tokens = end_tokens
        self._payloads: dict[Step, tuple[AnswerPayload, dict[str, Any]]] = {}

    def running(self, progress: Progress, ahead: int, pair: Pair | None) -> dict[str, Any]:
        """The lanes of what is being answered; once it is over, of `pair`."""
        step = progress.step
        shown = (step.question, step.repeat) if step else (0, 0)
        if progress.phase in OVER and pair is not None:
            shown = pair
        live = (step, progress.trace) if step and progress.trace else None
        return self._value(progress.comparison, shown, progress.phase, told(progress, ahead), live)

    def recorded(self, comparison: Comparison, pair: Pair) -> dict[str, Any]:
        """The lanes of a comparison from a file."""
        date = readable_date(comparison.created)
        said = WORDS["compare.now.recorded"].format(
            device=comparison.device,
            dtype=comparison.dtype,
            model=comparison.preset,
            date=date,
            n=len(comparison.runs),
        )
        return self._value(comparison, pair, "recorded", said, None)

    def _value(
        self, comparison: Comparison, pair: Pair, phase: str, said: str, live: tuple[Step, Trace] | None
    ) -> dict[str, Any]:
        over = phase == "recorded" or phase in OVER
        runs = {run.step.lane: run for run in comparison.runs if run.pair == pair}
        lanes = []
        for number, lane in enumerate(comparison.plan.lanes):
            step = Step(pair[1], pair[0], number)
            run = runs.get(number)
            state = "done" if run else "running" if live and live[0] == step else "none" if over else "waiting"
            trace = run.trace if run else live[1] if live and state == "running" else None
            lanes.append(
                {
                    "name": lane.name,
                    "state": state,
                    "told": WORDS[f"compare.lane.{state}"] if trace is None else "",
                    "answer": None if trace is None else self._payload(step, trace),
                    "differs": _where_it_differs(run, runs.get(0)),
                    "shared": bool(run and run.shared),
                    "verdict": _lane_verdict(run, runs.get(0)) if run else "",
                }
            )
        return {
            "phase": phase,
            "now": said,
            "asked": asked(comparison.plan.questions[pair[0]].turns[0]),
            "lanes": lanes,
            "verdict": race_verdict(comparison, runs) if over else "",
        }

    def _payload(self, step: Step, trace: Trace) -> dict[str, Any]:
        if step not in self._payloads:
            payload = AnswerPayload(trace, self._end_tokens)
            self._payloads[step] = payload, payload.update(trace)
        payload, drawn = self._payloads[step]
        if len(drawn["rounds"]) < len(trace.rounds) or drawn["end"] != trace.finish_reason:
            drawn = payload.update(trace)
            self._payloads[step] = payload, drawn
        return drawn


def nothing_yet() -> dict[str, Any]:
    """Before anything has run."""
    return {"phase": "idle", "now": WORDS["compare.now.idle"], "asked": "", "lanes": [], "verdict": ""}


def told(progress: Progress, ahead: int) -> str:
    """What is happening, in one sentence; `ahead` comparisons of others come first."""
    if progress.phase == "queued":
        return queued(ahead)
    if progress.phase == "waiting":
        return WORDS["measure.quiet"]
    plan, done = progress.comparison.plan, len(progress.comparison.runs)
    lane = plan.lanes[progress.step.lane].name if progress.step else ""
    total = len(plan.lanes) * len(plan.questions) * plan.repeats
    return WORDS[f"compare.now.{progress.phase}"].format(
        lane=lane, n=done + (progress.phase == "running"), all=total, reason=progress.reason
    )


def race_verdict(comparison: Comparison, runs: dict[int, Run]) -> str:
    """Who was there first in these answers to one question, by lane, in one sentence."""
    seconds = {number: run.summary.seconds or 0.0 for number, run in runs.items()}
    if len(seconds) < 2 or 0 not in seconds:
        return WORDS["compare.race.none"]
    if len({run.summary.tokens for run in runs.values()}) > 1:
        return WORDS["compare.race.lengths"]
    first = min(seconds, key=lambda number: seconds[number])
    lanes = comparison.plan.lanes
    return WORDS["compare.race.first" if first else "compare.race.plain_first"].format(
        name=lanes[first].name, plain=lanes[0].name, seconds=seconds[first], plain_seconds=seconds[0]
    )


def _lane_verdict(run: Run, plain: Run | None) -> str:
    """What guessing did for this answer, in a sentence."""
    return verdict(run.trace, run.summary, speed_ratio(run, plain) if plain else None)


def _where_it_differs(run: Run | None, plain: Run | None) -> int | None:
    """The place of the first token that is not the yardstick's; None where that is not promised, or not known."""
    if run is None or plain is None or drafts_are_drawn(run):
        return None
    difference = first_difference(run, plain)
    return difference.position if difference else None
