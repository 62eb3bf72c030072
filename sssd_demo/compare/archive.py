"""A comparison as one file: a zip of `comparison.json`, `table.csv` and a trace file for every answer.

Written whole, and read with suspicion, since such a file may come from anybody: sizes are bounded, every trace passes
the checks of `trace_file.py`, and what the views rely on (one question for all lanes, each answer once, times in order)
is checked beside. Whatever is wrong becomes one `UserError`.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, get_args

from sssd_demo import trace_file
from sssd_demo.bench import BASELINE
from sssd_demo.compare.comparison import Comparison, Cost, Memory, MemoryKind, Run
from sssd_demo.compare.plan import Lane, Plan, Step
from sssd_demo.compare.table import csv_table
from sssd_demo.errors import UserError
from sssd_demo.json_checks import Unusable, flag, items, mapping, member, moment, one_of, real, text, whole, wrong
from sssd_demo.questions import Question
from sssd_demo.request import RULES, Length
from sssd_demo.service import Settings
from sssd_demo.trace import AcceptanceRule, Trace

VERSION = 1
KIND = "sssd_demo comparison"
HEAD, TABLE, TRACES = "comparison.json", "table.csv", "traces/"
MAX_BYTES = 64 * 2**20  # of everything in it, unpacked
_METHOD = re.compile(r"[a-z][a-z0-9-]{0,39}")
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError, RuntimeError, ValueError)


def pack(comparison: Comparison) -> bytes:
    """The file. Raises `UserError` if it would be larger than what is read again."""
    files = dict(_files(comparison))
    if sum(map(len, files.values())) > MAX_BYTES:
        raise UserError(
            f"The traces of this comparison have more than {MAX_BYTES:,} bytes, too many for one file; the table can"
            " be saved."
        )
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def load(path: Path | str, *, called: str | None = None) -> Comparison:
    """The comparison in the file at `path`, `called` so for the reader. Raises `UserError` for whatever is wrong."""
    name = called or Path(path).name
    try:
        with zipfile.ZipFile(path) as archive:
            return _comparison(_Contents(archive))
    except OSError as error:
        raise UserError(f"The file {name} cannot be read: {error.strerror or error}.") from error
    except (*_BROKEN, RecursionError) as error:
        raise UserError(f"{name} is not a saved comparison, or it was cut off.") from error


def _files(comparison: Comparison) -> Iterator[tuple[str, bytes]]:
    yield HEAD, json.dumps(_head(comparison), allow_nan=False, indent=1).encode()
    yield TABLE, csv_table(comparison).encode()
    for run in comparison.runs:
        yield _trace_name(comparison.plan, run.step), _json(trace_file.to_json(run.trace))


def _json(data: Any) -> bytes:
    return json.dumps(data, allow_nan=False, separators=(",", ":")).encode()


def _trace_name(plan: Plan, step: Step) -> str:
    lane = re.sub(r"[^a-z0-9]+", "-", plan.lanes[step.lane].name.lower())
    return f"{TRACES}{step.question + 1:02}_{step.repeat + 1}_{step.lane + 1}_{lane}.json"


def _head(comparison: Comparison) -> dict[str, Any]:
    plan = comparison.plan
    return {
        "kind": KIND,
        "version": VERSION,
        "created": comparison.created,
        "device": comparison.device,
        "dtype": comparison.dtype,
        "preset": comparison.preset,
        "questions": [{"id": each.id, "category": each.category, "turn": each.turns[0]} for each in plan.questions],
        "settings": {name: getattr(plan.common, name) for name in _COMMON},
        "repeats": plan.repeats,
        "lanes": [asdict(lane) | asdict(cost) for lane, cost in zip(plan.lanes, comparison.costs, strict=True)],
        "skipped": {str(question): reason for question, reason in comparison.skipped.items()},
        "known": sorted(comparison.known),
        "runs": [
            asdict(run.step)
            | {"prefill_forwards": run.prefill_forwards, "shared": run.shared, "trace": _trace_name(plan, run.step)}
            for run in comparison.runs
        ],
    }


_COMMON = ("max_new_tokens", "temperature", "top_k", "top_p", "seed", "datastore", "draft_temperature")


class _Contents:
    """The files of an archive, read one by one while they are not too large together."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._left = MAX_BYTES

    def json(self, name: str) -> Any:
        """Raises `UserError` when too much was unpacked, and what broken files raise."""
        with self._archive.open(name) as file:
            content = file.read(self._left + 1)
        self._left -= len(content)
        if self._left < 0:
            raise UserError(f"This comparison has more than {MAX_BYTES:,} bytes when unpacked, too many to be shown.")
        return json.loads(content.decode("utf-8"))


def _comparison(contents: _Contents) -> Comparison:
    try:
        data = mapping(contents.json(HEAD), HEAD)
        if data.get("kind") != KIND or data.get("version") != VERSION:
            raise wrong(HEAD, f"should be a {KIND} of version {VERSION}")
        comparison = _without_runs(data)
        rows = items(_entry(data, "runs"), "runs", lambda row, where: (mapping(row, where), where))
    except Unusable as error:
        raise _unusable(error.what) from error
    runs = tuple(_run(row, where, contents, comparison) for row, where in rows)
    if not runs:
        raise _unusable("it holds no answers")
    if len({run.step for run in runs}) < len(runs):
        raise _unusable("it holds an answer twice")
    prompts = {(run.step.question, run.trace.prompt) for run in runs}
    if len(prompts) > len({question for question, _ in prompts}):
        raise _unusable("its lanes were not asked the same")
    return replace(comparison, runs=runs)


def _without_runs(data: dict[str, Any]) -> Comparison:
    lanes = items(_entry(data, "lanes"), "lanes", _lane)
    plan = Plan(
        questions=items(_entry(data, "questions"), "questions", _question),
        common=_settings(_entry(data, "settings"), "settings"),
        lanes=tuple(lane for lane, _ in lanes),
        repeats=whole(_entry(data, "repeats"), "repeats"),
    )
    last = len(plan.questions) - 1
    skipped = mapping(_entry(data, "skipped"), "skipped")
    return Comparison(
        plan=plan,
        created=moment(_entry(data, "created"), "created"),
        device=text(_entry(data, "device"), "device"),
        dtype=text(_entry(data, "dtype"), "dtype"),
        preset=text(_entry(data, "preset"), "preset"),
        costs=tuple(cost for _, cost in lanes),
        skipped={_index(key, last): text(reason, "skipped") for key, reason in skipped.items()},
        known=frozenset(items(_entry(data, "known"), "known", lambda each, where: whole(each, where, high=last))),
    )


def _entry(data: dict[str, Any], key: str) -> Any:
    return member(data, key, HEAD)


def _index(key: str, last: int) -> int:
    return whole(int(key) if key.isascii() and key.isdigit() and len(key) < 10 else None, "skipped", high=last)


def _question(value: Any, where: str) -> Question:
    data = mapping(value, where)
    told = {key: text(member(data, key, where), f"{where}.{key}") for key in ("id", "category", "turn")}
    return Question(told["id"], told["category"], (told["turn"],))


def _lane(value: Any, where: str) -> tuple[Lane, Cost]:
    data = mapping(value, where)

    def entry(key: str) -> tuple[Any, str]:
        return member(data, key, where), f"{where}.{key}"

    method = text(*entry("method"))
    if not _METHOD.fullmatch(method):
        raise wrong(f"{where}.method", "is not the name of a method")
    s_q: Length = _number_or(*entry("s_q"), known=RULES)
    k = _number_or(*entry("k"), known=("auto",))
    rule = one_of(*entry("rule"), get_args(AcceptanceRule))
    trained, told = entry("trained")
    cost = Cost(None if trained is None else flag(trained, told), items(*entry("memory"), _memory))
    return Lane(method, s_q, k, rule), cost


def _number_or(value: Any, where: str, known: tuple[str, ...]) -> Any:
    return one_of(value, where, known) if isinstance(value, str) else whole(value, where)


def _memory(value: Any, where: str) -> Memory:
    data = mapping(value, where)
    return Memory(
        kind=one_of(member(data, "kind", where), f"{where}.kind", get_args(MemoryKind)),
        bytes=whole(member(data, "bytes", where), f"{where}.bytes"),
        name=text(member(data, "name", where), f"{where}.name"),
    )


def _settings(value: Any, where: str) -> Settings:
    """Raises `UserError` when a value is out of range, as for whoever asks."""
    data = mapping(value, where)

    def entry(key: str) -> tuple[Any, str]:
        return member(data, key, where), f"{where}.{key}"

    store, store_where = entry("datastore")
    drafts, drafts_where = entry("draft_temperature")
    return Settings(
        method=BASELINE,
        max_new_tokens=whole(*entry("max_new_tokens")),
        temperature=real(*entry("temperature")),
        top_k=whole(*entry("top_k")),
        top_p=real(*entry("top_p")),
        seed=whole(*entry("seed"), high=2**63 - 1),
        datastore=None if store is None else text(store, store_where),
        draft_temperature=None if drafts is None else real(drafts, drafts_where),
    )


def _run(row: dict[str, Any], where: str, contents: _Contents, comparison: Comparison) -> Run:
    plan = comparison.plan
    try:
        indices = {
            key: whole(member(row, key, where), f"{where}.{key}", high=count - 1)
            for key, count in (("repeat", plan.repeats), ("question", len(plan.questions)), ("lane", len(plan.lanes)))
        }
        name = text(member(row, "trace", where), f"{where}.trace")
        forwards = whole(member(row, "prefill_forwards", where), f"{where}.prefill_forwards", low=1)
        shared = flag(member(row, "shared", where), f"{where}.shared")
        trace = trace_file.from_json(contents.json(name))
    except Unusable as error:
        raise _unusable(f"{row.get('trace', HEAD)!s}: {error.what}") from error
    run = Run(Step(**indices), trace, forwards, shared)
    _check_run(run, comparison, name)
    return run


def _check_run(run: Run, comparison: Comparison, name: str) -> None:
    """That a whole trace of this lane, measured on the comparison's machine, has its rounds in the order of time."""
    trace, lane = run.trace, comparison.plan.lanes[run.step.lane]
    if trace.method != lane.method:
        raise _unusable(f"{name} was written by {trace.method[:40]}, not by {lane.method}")
    if _machine(trace) != (comparison.device, comparison.dtype, comparison.preset):
        raise _unusable(f"{name} was measured on another machine or model than the rest")
    if not trace.rounds or trace.finish_reason in (None, "cancelled"):
        raise _unusable(f"{name} is not a whole answer")
    if len(trace.token_ids()) > comparison.plan.common.max_new_tokens:
        raise _unusable(f"{name} is longer than its settings allow")
    starts = [round_.start_ms for round_ in trace.rounds]
    if starts != sorted(starts):
        raise _unusable(f"{name} has rounds that go back in time")


def _machine(trace: Trace) -> tuple[str, str, str]:
    return trace.device, trace.dtype, trace.preset


def _unusable(what: str) -> UserError:
    return UserError(f"This is not a usable comparison: {what}.")
