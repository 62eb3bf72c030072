"""What was measured of this machine → the facts that the Roofline tab begins with."""

from __future__ import annotations

from typing import Any

from sssd_demo.profile_file import measured_at
from sssd_demo.roofline import CONTEXTS, forward_time, knee_tokens
from sssd_demo.ui.busy import MUCH_LONGER
from sssd_demo.ui.roofline_board import Board
from sssd_demo.ui.roofline_job import JobState
from sssd_demo.ui.words import WORDS


def machine_value(board: Board | None, job: JobState | None = None) -> dict[str, Any]:
    """The value of the first view; `job` is a measurement under way or just over, of whatever kind."""
    if board is None:
        return {"phase": "idle", "now": WORDS["roof.machine.waiting"], "facts": [], "notes": []}
    running = job is not None and job.kind == "measure" and job.phase == "running"
    value: dict[str, Any] = {
        "phase": "running" if running else "idle",
        "now": job.said if job is not None and job.kind == "measure" else "",
        "facts": _facts(board),
        "notes": [note for note in (f"{_known(board)} {_when(board)}", _busy(board), _experts(board)) if note],
    }
    return value | ({"share": round(job.share, 3)} if job is not None and running else {})


def _known(board: Board) -> str:
    sizes = board.profile.forward_seconds
    if not sizes:
        return WORDS["roof.machine.none"]
    if board.quick:
        return WORDS["roof.machine.quick"]
    return WORDS["roof.machine.whole"].format(batch=max(batch for batch, _, _ in sizes), n=len(sizes))


def _when(board: Board) -> str:
    when = measured_at(board.service.profile_key()) if board.profile.forward_seconds else None
    return WORDS["roof.when"].format(when=f"{when:%Y-%m-%d %H:%M}") if when else ""


def _busy(board: Board) -> str:
    """That the measurement was disturbed, if plain decoding was much faster when that was measured."""
    baseline = board.service.baseline()
    if baseline is None or not board.profile.forward_seconds:
        return ""
    usual, one = 1000 / baseline.tokens_per_second, 1000 * forward_time(board.profile, 1, 1, CONTEXTS[0])
    if one <= MUCH_LONGER * usual:
        return ""
    return WORDS["roof.machine.busy"].format(ms=one, usual=usual, when=f"{baseline.measured_at:%H:%M}")


def _experts(board: Board) -> str:
    return "" if board.shape else WORDS["roof.machine.experts"]


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
    return facts
