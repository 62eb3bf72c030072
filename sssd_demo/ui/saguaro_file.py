"""A run of the Saguaro tab as a file, and back. Plain trace files of its methods can be looked at too."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sssd_demo import trace_file
from sssd_demo.errors import UserError
from sssd_demo.json_checks import flag, items, mapping, member, moment, real, text, whole, wrong
from sssd_demo.roofline import Profile
from sssd_demo.saguaro.alone_times import AloneTimes
from sssd_demo.trace import Trace
from sssd_demo.ui.saguaro_found import Found
from sssd_demo.ui.words import WORDS

VERSION = 1
KIND = "saguaro run"
MOST_CORES = 4096


def pack(found: Found) -> str:
    """The run as JSON. Raises `UserError` if there is nothing in it."""
    if found.in_turn is None and found.ahead is None:
        raise UserError(WORDS["sag.refuse.nothing"])
    alone = found.alone
    data = {
        "kind": KIND,
        "version": VERSION,
        "created": found.created,
        "device": found.device,
        "dtype": found.dtype,
        "preset": found.preset,
        "cores": found.cores,
        "plain_speed": found.plain_speed,
        "shared": found.shared,
        "in_turn": trace_file.to_json(found.in_turn) if found.in_turn else None,
        "ahead": trace_file.to_json(found.ahead) if found.ahead else None,
        "alone": {"target": _rows(alone.target), "draft": _rows(alone.draft)} if alone else None,
    }
    return json.dumps(data, allow_nan=False, separators=(",", ":"))


def load(paths: Sequence[str | Path]) -> Found:
    """A run from one file of this tab, or from up to two plain traces. Raises `UserError` that says what is wrong."""
    found: Found | None = None
    for path in paths:
        loaded = _load(Path(path))
        if found is None or (loaded.in_turn and loaded.ahead):
            found = loaded
        else:
            found = replace(found, in_turn=found.in_turn or loaded.in_turn, ahead=found.ahead or loaded.ahead)
    if found is None:
        raise UserError(WORDS["sag.refuse.nothing"])
    return found


def _load(path: Path) -> Found:
    try:
        size = os.path.getsize(path)
        if size > trace_file.MAX_FILE_BYTES:
            raise UserError(f"{path.name} has {size:,} bytes; such a file may have {trace_file.MAX_FILE_BYTES:,}.")
        data = json.loads(path.read_bytes().decode("utf-8"))
    except OSError as error:
        raise UserError(f"{path.name} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path.name} is not a trace: it is not JSON, or it was cut off.") from error
    if isinstance(data, dict) and data.get("kind") == KIND:
        return _run(data)
    trace = trace_file.from_json(data)
    ahead = any(round_.saguaro is not None for round_ in trace.rounds)
    drafted = any("model" in round_.tree.sources for round_ in trace.rounds)
    if not ahead and not drafted:
        raise UserError(WORDS["sag.refuse.file"].format(name=path.name))
    return Found(
        created=trace.created,
        device=trace.device,
        dtype=trace.dtype,
        preset=trace.preset,
        cores=1,
        in_turn=None if ahead else trace,
        ahead=trace if ahead else None,
        recorded=True,
    )


def _run(data: dict[str, Any]) -> Found:
    def top(key: str) -> Any:
        return member(data, key, "the file")

    if top("version") != VERSION:
        raise UserError(f"This run has version {str(data['version'])[:20]}, but only version {VERSION} can be read.")
    speed, alone = top("plain_speed"), top("alone")
    return Found(
        created=moment(top("created"), "created"),
        device=text(top("device"), "device"),
        dtype=text(top("dtype"), "dtype"),
        preset=text(top("preset"), "preset"),
        cores=whole(top("cores"), "cores", low=1, high=MOST_CORES),
        in_turn=_trace(top("in_turn"), "in_turn", ahead=False),
        ahead=_trace(top("ahead"), "ahead", ahead=True),
        alone=None if alone is None else _alone(alone),
        plain_speed=None if speed is None else real(speed, "plain_speed"),
        shared=flag(top("shared"), "shared"),
        recorded=True,
    )


def _trace(value: Any, where: str, ahead: bool) -> Trace | None:
    if value is None:
        return None
    trace = trace_file.from_json(value)
    if any((round_.saguaro is not None) != ahead for round_ in trace.rounds[1:]):
        raise wrong(where, "holds an answer of another method")
    return trace


def _alone(value: Any) -> AloneTimes:
    data = mapping(value, "alone")
    return AloneTimes(*(_profile(member(data, key, "alone"), f"alone.{key}") for key in ("target", "draft")))


def _profile(value: Any, where: str) -> Profile:
    def row(entry: Any, place: str) -> tuple[tuple[int, int, int], float]:
        cells = items(entry, place, lambda cell, _: cell)
        if len(cells) != 4:
            raise wrong(place, "should have four entries: sequences, tokens, context, seconds")
        batch, tokens, context = (whole(cell, place, low=1) for cell in cells[:3])
        return (batch, tokens, context), real(cells[3], place)

    found = dict(items(value, where, row))
    if not found:
        raise wrong(where, "is empty")
    return Profile(found)


def _rows(profile: Profile) -> list[list[float]]:
    return [[*point, seconds] for point, seconds in sorted(profile.forward_seconds.items())]
