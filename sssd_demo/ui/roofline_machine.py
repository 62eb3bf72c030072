"""What was measured of this machine → the facts that the Roofline tab begins with."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sssd_demo.profile_file import measured_at
from sssd_demo.roofline import CONTEXTS, forward_time, knee_tokens
from sssd_demo.ui.roofline_board import Board
from sssd_demo.ui.roofline_job import JobState
from sssd_demo.ui.words import WORDS


def machine_value(board: Board | None, job: JobState | None = None) -> dict[str, Any]:
    """The value of the first view; `job` is a measurement under way or just over, of whatever kind."""
    if board is None:
        return {"phase": "idle", "said": WORDS["roof.machine.waiting"], "facts": [], "notes": []}
    running = job is not None and job.kind == "measure" and job.phase == "running"
    value: dict[str, Any] = {
        "phase": "running" if running else "idle",
        "said": job.said if job is not None and job.kind == "measure" else "",
        "facts": _facts(board),
        "notes": [_known(board), *([] if board.shape else [WORDS["roof.machine.experts"]])],
    }
    return value | ({"share": round(job.share, 3)} if job is not None and running else {})


def _known(board: Board) -> str:
    sizes = board.profile.forward_seconds
    if not sizes:
        return WORDS["roof.machine.none"]
    if board.quick:
        return WORDS["roof.machine.quick"]
    return WORDS["roof.machine.whole"].format(batch=max(batch for batch, _, _ in sizes), n=len(sizes))


def _facts(board: Board) -> list[list[str]]:
    """[figure, label] pairs."""
    profile, model = board.profile, board.service.model
    facts = []
    if profile.flops and profile.bandwidth and profile.knee is not None:
        facts += [
            [f"{profile.flops / 1e9:,.0f}", WORDS["roof.fact.flops"].format(dtype=model.dtype)],
            [f"{profile.bandwidth / 1e9:,.0f}", WORDS["roof.fact.bandwidth"]],
            [f"{profile.knee:.1f}", WORDS["roof.fact.knee"]],
            [f"{knee_tokens(profile, board.bytes_per_weight):.1f}", WORDS["roof.fact.tokens"]],
        ]
    if profile.forward_seconds:
        facts.append([f"{1000 * forward_time(profile, 1, 1, CONTEXTS[0]):.1f}", WORDS["roof.fact.one"]])
        when = measured_at(board.service.profile_key())
        if when is not None:
            facts.append([_moment(when), WORDS["roof.fact.when"]])
    return facts


def _moment(when: datetime) -> str:
    return f"{when:%Y-%m-%d %H:%M}"
