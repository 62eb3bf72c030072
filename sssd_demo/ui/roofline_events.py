"""What Gradio calls for the Roofline tab: plans at once, measurements behind, pictures meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import gradio as gr

from sssd_demo.batch_run import batch_prompts
from sssd_demo.errors import UserError
from sssd_demo.service import Service
from sssd_demo.ui.datastore_access import page_of
from sssd_demo.ui.roofline_board import SWEEP, Board, Boards, offered
from sssd_demo.ui.roofline_devices import devices_value
from sssd_demo.ui.roofline_job import Job, Jobs, JobState, measure_machine, run_batches
from sssd_demo.ui.roofline_layout import MOST_BATCH
from sssd_demo.ui.roofline_live import Live, live
from sssd_demo.ui.roofline_machine import machine_value
from sssd_demo.ui.roofline_plan import HERE, Plans, Wanted
from sssd_demo.ui.roofline_run import run_value
from sssd_demo.ui.service_host import ServiceHost
from sssd_demo.ui.sessions import Sessions
from sssd_demo.ui.words import WORDS

SHOW_EVERY = 0.4  # seconds between two pictures of a measurement

Drawn = list[Any]


class RooflineEvents:
    """For all pages; what was measured is the machine's and shown to all of them."""

    def __init__(self, host: ServiceHost, sessions: Sessions) -> None:
        self._host, self._sessions = host, sessions
        self._boards, self._jobs, self._plans = Boards(), Jobs(), Plans()

    def look(self, request: gr.Request, *controls: Any) -> Drawn:
        """[machine, plan, run, devices, methods] as they are now.

        What the page itself measures is left to the handler that follows it: two would overtake each other.
        """
        board, job = self._board(), self._jobs.last
        state = job.state() if job else None
        own = state.kind if job and state and job.page == page_of(request) and state.phase == "running" else None
        methods = gr.update(choices=list(offered(board.service))) if board else gr.skip()
        plan, devices = self._drawn(board, _wanted(*controls))
        machine = gr.skip() if own == "measure" else machine_value(board, state)
        run = gr.skip() if own == "run" else run_value(board, state, own=False)
        return [machine, plan, run, devices, methods]

    def replan(self, *controls: Any) -> Drawn:
        """[plan, devices, Run's label] for what the controls are set to now."""
        wanted = _wanted(*controls)
        return [*self._drawn(self._board(), wanted), _run_label(wanted)]

    def live(self, *controls: Any) -> Drawn:
        """[plan, devices, slider, Run's label]: the batch is that of the visitors, if there are any."""
        board, wanted = self._board(), _wanted(*controls)
        if board is None:
            return [gr.skip()] * 4
        now = self._now(board.service)
        if now is not None:
            wanted = _wanted(min(now.batch, MOST_BATCH), now.context or wanted.context, *controls[2:])
        drawn = self._drawn(board, wanted, now=now, live=True)
        return [*drawn, gr.update(value=wanted.batch), _run_label(wanted)]

    def measure(self, request: gr.Request) -> Drawn:
        """[notice, machine, Measure, Stop]"""
        return self._begin(request, "measure")

    def run(self, batch: Any, methods: Any, request: gr.Request) -> Drawn:
        """[notice, run, Run, sweep, Stop]"""
        return self._begin(request, "run", [_wanted(batch, Wanted().context).batch], methods)

    def sweep(self, methods: Any, request: gr.Request) -> Drawn:
        service = self._host.service
        capacity = service.engine.capacity if service else 0
        return self._begin(request, "run", [batch for batch in SWEEP if batch <= capacity], methods)

    def follow_measure(self, request: gr.Request, *controls: Any) -> Iterator[Drawn]:
        """[machine, plan, devices, Measure, Stop] until the page's measurement is over."""
        for board, state in self._follow(request, "measure"):
            over = state.phase != "running"
            drawn = self._drawn(board, _wanted(*controls)) if over else [gr.skip()] * 2
            yield [machine_value(board, state), *drawn, *_buttons(over, 1)]

    def follow_run(self, request: gr.Request, *controls: Any) -> Iterator[Drawn]:
        """[run, plan, devices, Run, sweep, Stop] until the page's run is over."""
        wanted = _wanted(*controls)
        for board, state in self._follow(request, "run"):
            over = state.phase != "running"
            drawn = self._drawn(board, wanted) if over else [gr.skip()] * 2
            yield [run_value(board, state, wanted.batch), *drawn, *_buttons(over, 2)]

    def stop(self, request: gr.Request) -> None:
        self._jobs.stop(page_of(request))

    def leave(self, request: gr.Request) -> None:
        self._jobs.stop(page_of(request))

    def _follow(self, request: gr.Request, kind: str) -> Iterator[tuple[Board, JobState]]:
        job = self._jobs.last
        if job is not None and job.kind == kind and job.page == page_of(request):
            for state in job.watch(SHOW_EVERY):
                yield job.board, state

    def _begin(
        self,
        request: gr.Request,
        kind: str,
        batches: Sequence[int] = (),
        methods: Any = None,
    ) -> Drawn:
        page, run = page_of(request), kind == "run"
        try:
            service = self._service()
            board = self._boards.of(service)
            if run:
                lanes = _methods(service, methods)
                _check_batches(service, batches)
                batch_prompts()
                job = self._jobs.begin(
                    lambda: Job("run", page, board, partial(run_batches, batches=batches, methods=lanes))
                )
            else:
                job = self._jobs.begin(lambda: Job("measure", page, board, measure_machine))
        except UserError as error:
            return [str(error), *[gr.skip()] * (4 if run else 3)]
        value = run_value(board, job.state()) if run else machine_value(board, job.state())
        return ["", value, *_buttons(False, 2 if run else 1)]

    def _drawn(self, board: Board | None, wanted: Wanted, now: Live | None = None, live: bool = False) -> Drawn:
        plan = self._plans.value(board, wanted, now, live)
        if board is None:
            return [plan, {"charts": [], "notes": [WORDS["roof.machine.waiting"]]}]
        shape = self._plans.shape(board, wanted.model, wanted.bits)
        width = shape.bytes_per_weight if shape else board.bytes_per_weight
        return [plan, devices_value(shape, width, wanted.batch, wanted.context)]

    def _now(self, service: Service) -> Live | None:
        return live(service.engine.busy, service.engine.capacity, self._sessions.traces())

    def _board(self) -> Board | None:
        service = self._host.service
        return None if service is None else self._boards.of(service)

    def _service(self) -> Service:
        service, loading = self._host.service, self._host.loading
        if service is None:
            raise UserError(loading.stage if loading.state == "failed" else WORDS["roof.loading"])
        return service


def _wanted(batch: Any, context: Any, hardware: Any = HERE, model: Any = "", bits: Any = "", *_rest: Any) -> Wanted:
    """What controls hold, or anybody who calls the handler; what makes no sense is as if it had not been said."""
    default = Wanted()
    try:
        batch, context = int(batch), int(context)
    except (TypeError, ValueError, OverflowError):
        batch, context = default.batch, default.context
    return Wanted(
        batch=max(1, min(MOST_BATCH, batch)),
        context=max(1, min(2**17, context)),
        hardware=str(hardware),
        model=str(model),
        bits=str(bits),
    )


def _methods(service: Service, methods: Any) -> list[str]:
    known, asked = offered(service), methods if isinstance(methods, list) else []
    for method in asked:
        if method not in known:
            raise UserError(WORDS["roof.run.no_method"].format(method=method, known=", ".join(known)))
    return list(dict.fromkeys(asked))


def _check_batches(service: Service, batches: Sequence[int]) -> None:
    most = service.engine.capacity
    for batch in batches:
        if batch > most:
            raise UserError(WORDS["roof.run.too_many"].format(most=most, batch=batch))


def _run_label(wanted: Wanted) -> Any:
    return gr.update(value=WORDS["roof.run.one"].format(batch=wanted.batch))


def _buttons(free: bool, count: int) -> list[Any]:
    """Updates of `count` buttons that begin something and of the one that stops it."""
    return [*[gr.update(interactive=free)] * count, gr.update(interactive=not free)]
