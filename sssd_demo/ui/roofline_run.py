"""Batches that were run, next to their plans → four pictures, a table, a sentence for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sssd_demo.batch_run import BatchResult, batch_prompts
from sssd_demo.errors import UserError
from sssd_demo.length_plan import Plan
from sssd_demo.ui.roofline_board import DRAFTING, PLAIN, PLANNED_BATCHES, Board, Measured
from sssd_demo.ui.roofline_chart import Axis, Chart, Level, Series
from sssd_demo.ui.roofline_job import LEAST_ANSWERS, JobState, sequences
from sssd_demo.ui.roofline_verdict import gain_sentence, gains_sentence
from sssd_demo.ui.words import WORDS

LOOKS = ("plain", "first", "second", "third")  # of methods, the yardstick first
SHAPES = ("circle", "square", "triangle", "diamond")


def run_value(
    board: Board | None, job: JobState | None = None, batch: int | None = None, *, own: bool = True
) -> dict[str, Any]:
    """The value of the run's view. `job` is under way or just over; `batch` is what the sentence on top is about."""
    if board is None:
        return {"phase": "idle", "said": WORDS["roof.machine.waiting"], "charts": [], "table": None, "notes": []}
    running = job is not None and job.kind == "run" and job.phase == "running"
    methods = [*dict.fromkeys([PLAIN, DRAFTING, *board.methods()])]
    value: dict[str, Any] = {
        "phase": "running" if running else "idle",
        "now": _now(board, job, own),
        "said": _said(board, batch),
        "charts": [chart.value() for chart in _charts(board, methods)],
        "table": _table(board),
        "notes": _notes(board),
    }
    return value | ({"share": round(job.share, 3)} if job is not None and running else {})


def _now(board: Board, job: JobState | None, own: bool) -> str:
    if job is None or job.kind != "run":
        return "" if board.measured else WORDS["roof.run.idle"]
    return job.said if own or job.phase != "running" else WORDS["roof.run.others"].format(now=job.said)


def _said(board: Board, batch: int | None) -> str:
    """One sentence for each method at `batch`, else at the largest batch that was run."""
    methods = board.methods()[1:]
    found = []
    for method in methods:
        run = board.batches(method)
        at = batch if batch in run else max(run)
        found.append(gain_sentence(board, method, at))
    return " ".join(filter(None, found))


def _notes(board: Board) -> list[str]:
    model = board.service.model
    told = [
        WORDS["roof.run.too_short"].format(batch=sequences(batch), method=method)
        for method, batch in sorted(board.too_short)
    ]
    try:
        prompts = len(batch_prompts())
        shortest, longest = board.stretch(min(PLANNED_BATCHES))[0], board.stretch(max(PLANNED_BATCHES))[-1]
    except UserError as error:
        return [*told, WORDS["roof.run.no_prompts"].format(reason=error)]
    store = WORDS["roof.run.store"].format(name=board.store) if board.store else WORDS["roof.run.no_store"]
    fine = WORDS["roof.run.fine"].format(
        prompts=prompts,
        store=store,
        model=model.name,
        dtype=model.dtype,
        device=model.device_name,
        waves=LEAST_ANSWERS,
        shortest=shortest,
        longest=longest,
    )
    return [*told, fine]


def _charts(board: Board, methods: list[str]) -> list[Chart]:
    return [_speed(board, methods), _gain(board, methods), _wait(board, methods), _pareto(board, methods)]


def _plans(board: Board, method: str) -> dict[int, Plan]:
    try:
        found = {batch: board.plan_run(method, batch) for batch in PLANNED_BATCHES}
    except UserError:  # there are no prompts; a note says so
        return {}
    return {batch: plan for batch, plan in found.items() if plan is not None}


def _results(board: Board, method: str) -> dict[int, BatchResult]:
    return {batch: board.measured[method, batch].result for batch in board.batches(method)}


def _lines(
    board: Board,
    methods: list[str],
    planned: Callable[[Plan], float],
    measured: Callable[[BatchResult], float],
    tops: Callable[[BatchResult], float] | None = None,
) -> list[Series]:
    """For each method a dashed line of what was planned and dots of what was measured, over the batch size."""
    found = []
    for at, method in enumerate(methods):
        look, shape = LOOKS[at % len(LOOKS)], SHAPES[at % len(SHAPES)]
        plans, results = _plans(board, method), _results(board, method)
        if plans:
            name = WORDS["roof.chart.planned"].format(method=method)
            found.append(Series([(b, planned(plan)) for b, plan in plans.items()], f"{look} is-planned", name))
        if results:
            found.append(
                Series(
                    [(b, measured(result)) for b, result in results.items()],
                    look,
                    WORDS["roof.chart.measured"].format(method=method),
                    shape=shape,  # type: ignore[arg-type]  # of a tuple of them
                    tops=[tops(result) for result in results.values()] if tops else (),
                )
            )
    return found


def _batch_axis() -> Axis:
    return Axis(WORDS["roof.chart.b"], "log", 0.93, 34, ticks=PLANNED_BATCHES)


def _speed(board: Board, methods: list[str]) -> Chart:
    return Chart(
        WORDS["roof.chart.speed"],
        _batch_axis(),
        Axis(WORDS["roof.chart.speed_y"], low=0),
        _lines(board, methods, lambda plan: plan.tokens_per_second, lambda result: result.tokens_per_second),
        said=_from_to(board, "roof.said.speed", lambda result: result.tokens_per_second),
        note=WORDS["roof.chart.none"],
    )


def _wait(board: Board, methods: list[str]) -> Chart:
    return Chart(
        WORDS["roof.chart.wait"],
        _batch_axis(),
        Axis(WORDS["roof.chart.wait_y"], low=0),
        _lines(
            board,
            methods,
            lambda plan: plan.ms_per_token,
            lambda result: result.ms_per_token[0],
            lambda result: result.ms_per_token[1],
        ),
        said=_from_to(board, "roof.said.wait", lambda result: result.ms_per_token[0]),
        note=WORDS["roof.chart.none"],
    )


def _from_to(board: Board, words: str, figure: Callable[[BatchResult], float]) -> str:
    """A sentence about the smallest and the largest batch of the method that drafts, else of plain decoding."""
    method = board.methods()[-1] if board.measured else PLAIN
    results = _results(board, method)
    if not results:
        return WORDS["roof.said.planned_only"]
    few, many = min(results), max(results)
    if few == many:
        return WORDS["roof.said.one_only"].format(batch=sequences(few))
    first, last = figure(results[few]), figure(results[many])
    return WORDS[words].format(
        method=method, first=first, last=last, times=last / first, few=sequences(few), many=sequences(many)
    )


def _gain(board: Board, methods: list[str]) -> Chart:
    found = []
    plain = _plans(board, PLAIN)
    for at, method in enumerate(methods):
        if method == PLAIN:
            continue
        look, shape = LOOKS[at % len(LOOKS)], SHAPES[at % len(SHAPES)]
        planned = [
            (float(batch), plan.tokens_per_second / plain[batch].tokens_per_second)
            for batch, plan in _plans(board, method).items()
            if batch in plain
        ]
        measured = [
            (float(batch), gain) for batch in board.batches(method) if (gain := board.gain(method, batch)) is not None
        ]
        if planned:
            found.append(Series(planned, f"{look} is-planned", WORDS["roof.chart.planned"].format(method=method)))
        if measured:
            name = WORDS["roof.chart.measured"].format(method=method)
            found.append(Series(measured, look, name, shape=shape, labels=[f"{gain:.2f}" for _, gain in measured]))  # type: ignore[arg-type]
    values = [1.0, *(y for series in found for _, y in series.points)]
    method = board.methods()[1] if len(board.methods()) > 1 else DRAFTING
    return Chart(
        WORDS["roof.chart.gain"],
        _batch_axis(),
        Axis(WORDS["roof.chart.gain_y"], low=min(0.7, min(values) - 0.1), high=max(1.5, max(values) + 0.1)),
        found,
        said=gains_sentence(board, method),
        levels=[Level(WORDS["roof.chart.even"], y=1.0)],
        note=WORDS["roof.chart.none"],
    )


def _pareto(board: Board, methods: list[str]) -> Chart:
    found = []
    for at, method in enumerate(methods):
        look, shape = LOOKS[at % len(LOOKS)], SHAPES[at % len(SHAPES)]
        plans, results = _plans(board, method), _results(board, method)
        if plans:
            points = [(1000 / plan.ms_per_token, plan.tokens_per_second) for plan in plans.values()]
            found.append(Series(points, f"{look} is-planned", WORDS["roof.chart.planned"].format(method=method)))
        if results:
            points = [(1000 / result.ms_per_token[0], result.tokens_per_second) for result in results.values()]
            found.append(
                Series(
                    points,
                    look,
                    WORDS["roof.chart.measured"].format(method=method),
                    shape=shape,  # type: ignore[arg-type]
                    labels=[str(batch) for batch in results],
                )
            )
    return Chart(
        WORDS["roof.chart.pareto"],
        Axis(WORDS["roof.chart.pareto_x"], low=0),
        Axis(WORDS["roof.chart.pareto_y"], low=0),
        found,
        said=_pareto_said(board),
        note=WORDS["roof.chart.none"],
    )


def _pareto_said(board: Board) -> str:
    method = board.methods()[-1] if board.measured else PLAIN
    results = _results(board, method)
    if not results:
        return WORDS["roof.said.planned_only"]
    batch = max(results)
    result = results[batch]
    return WORDS["roof.said.pareto"].format(
        batch=sequences(batch), method=method, fast=1000 / result.ms_per_token[0], all=result.tokens_per_second
    )


def _table(board: Board) -> dict[str, Any] | None:
    if not board.measured:
        return None
    columns = (
        "batch", "method", "measured", "planned", "gain", "wait", "per_forward", "s_q", "verify", "draft", "shared",
        "when",
    )  # fmt: skip
    order = board.methods()
    rows = sorted(board.measured.items(), key=lambda item: (item[0][1], order.index(item[0][0])))
    return {
        "title": WORDS["roof.table.title"],
        "head": [WORDS[f"roof.column.{name}"] for name in columns],
        "rows": [_row(board, method, batch, measured) for (method, batch), measured in rows],
    }


def _row(board: Board, method: str, batch: int, measured: Measured) -> list[str]:
    result, plan = measured.result, measured.plan
    gain = board.gain(method, batch)
    sizes = ", ".join(f"{size}" for size, _ in result.shared)
    shared = WORDS["roof.value.shared"].format(forwards=result.forwards, sizes=sizes)
    return [
        str(batch),
        method,
        f"{result.tokens_per_second:,.1f}",
        f"{plan.tokens_per_second:,.1f}" if plan else "–",
        f"{gain:.2f}" if gain else "–",
        f"{result.ms_per_token[0]:.1f} · {result.ms_per_token[1]:.1f}",
        _beside(result.tokens_per_forward, plan.played.tokens if plan else None, 2),
        _beside(result.s_q, plan.played.s_q if plan else None, 1),
        _beside(result.verify_ms, 1000 * plan.played.seconds if plan else None, 1),
        f"{result.draft_ms:.2f}",
        shared + (WORDS["roof.value.load"] if result.under_load else ""),
        f"{measured.ended:%H:%M}",
    ]


def _beside(value: float, planned: float | None, digits: int) -> str:
    if planned is None:
        return f"{value:.{digits}f}"
    return WORDS["roof.value.pair"].format(value=f"{value:.{digits}f}", planned=f"{planned:.{digits}f}")
