"""What Gradio calls in the Saguaro tab: Run, Stop, Sweep, saving and loading, and pictures meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradio as gr

from sssd_demo import models
from sssd_demo.compare.in_turn import InTurn
from sssd_demo.errors import UserError
from sssd_demo.service import Service
from sssd_demo.ui import saguaro_file
from sssd_demo.ui.components import STATIC
from sssd_demo.ui.datastore_access import page_of
from sssd_demo.ui.datastore_fill import forget_files
from sssd_demo.ui.measuring import queued
from sssd_demo.ui.saguaro_alone import AloneKept
from sssd_demo.ui.saguaro_figures import figures, sweep_figures
from sssd_demo.ui.saguaro_found import Found
from sssd_demo.ui.saguaro_pages import SaguaroPage, SaguaroPages
from sssd_demo.ui.saguaro_picture import picture
from sssd_demo.ui.saguaro_run import Asked, SaguaroRun, check
from sssd_demo.ui.saguaro_settings import asked_from
from sssd_demo.ui.saguaro_theory import theory
from sssd_demo.ui.service_host import ServiceHost
from sssd_demo.ui.words import WORDS

SHOW_EVERY = 0.4  # seconds between two pictures while it runs: drawing takes time from what is measured
FILE_NAME = "sssd_demo_saguaro.json"
RECORDED = STATIC / "recorded_saguaro.json"

# Values for view, figures, theory, sweep, notice, Run, Sweep, Stop, Save.
Drawn = list[Any]


class SaguaroEvents:
    """Each page has one run at a time in `pages`; times measured alone are the machine's and shared."""

    def __init__(self, host: ServiceHost, in_turn: InTurn, recorded: Path = RECORDED) -> None:
        self._host, self._pages, self._alone = host, SaguaroPages(in_turn), AloneKept()
        self._recorded = recorded

    def look(self, request: gr.Request) -> Drawn:
        """As it is now, when the tab is opened or the model has come.

        A run that is under way is left to the handler that follows it: two would overtake each other.
        """
        page = page_of(request)
        return [gr.skip()] * 9 if self._pages.get(page).busy else self._drawn(page)

    def run(self, request: gr.Request, *controls: Any) -> Drawn:
        return self._begin(request, controls, sweep=False)

    def sweep(self, request: gr.Request, *controls: Any) -> Drawn:
        return self._begin(request, controls, sweep=True)

    def follow(self, request: gr.Request) -> Iterator[Drawn]:
        """[view, figures, sweep] while the page's run is under way."""
        page = page_of(request)
        own = self._pages.get(page)
        run = own.run
        if own.busy and run is not None:
            for _ in run.watch(SHOW_EVERY):
                if self._pages.get(page).run is not run:
                    break
                yield self._moving(page)
        yield [gr.skip()] * 3  # Gradio sends the last value once more; by then another run may be on show

    def end(self, request: gr.Request) -> Drawn:
        """It is over: set what did not stream."""
        drawn = self._drawn(page_of(request))
        return [*drawn[:4], gr.skip(), *drawn[5:]]

    def stop(self, request: gr.Request) -> None:
        own = self._pages.get(page_of(request))
        if own.run is not None:
            own.run.stop()

    def load(self, paths: list[str] | None, request: gr.Request) -> Drawn:
        page = page_of(request)
        files = list(paths or [])
        try:
            self._pages.show(page, self._with_times(saguaro_file.load(files)))
        except UserError as error:
            return _said(str(error))
        finally:
            forget_files(files)
        return self._drawn(page)

    def save(self, request: gr.Request) -> list[str]:
        """The run for the browser to save, and a notice."""
        found = self._pages.get(page_of(request)).shown
        if found is None:
            return ["", WORDS["sag.refuse.nothing"]]
        try:
            return [saguaro_file.pack(found), ""]
        except UserError as error:
            return ["", str(error)]

    def leave(self, request: gr.Request) -> None:
        self._pages.drop(page_of(request))

    def _begin(self, request: gr.Request, controls: tuple[Any, ...], sweep: bool) -> Drawn:
        page = page_of(request)
        try:
            service = self._service()
            asked = asked_from(service.store_names(), *controls)
            if sweep and not asked.ahead.temperature:
                raise UserError(WORDS["sag.refuse.greedy"])
            if self._pages.get(page).busy:
                raise UserError(WORDS["sag.refuse.running"])
            check(service, asked)
            self._pages.begin(page, lambda: self._make(service, asked, sweep))
        except UserError as error:
            return _said(str(error))
        return self._drawn(page)

    def _make(self, service: Service, asked: Asked, sweep: bool) -> SaguaroRun:
        return SaguaroRun(service, asked, self._alone, sweep=sweep)

    def _service(self) -> Service:
        service, loading = self._host.service, self._host.loading
        if service is None:
            raise UserError(loading.stage if loading.state == "failed" else WORDS["sag.now.no_model"])
        if service.draft is None:
            raise UserError(_no_draft(service))
        return service

    def _with_times(self, found: Found) -> Found:
        """A trace made on this very machine can be laid out by the times that are known here."""
        service = self._host.service
        if found.alone is not None or service is None:
            return found
        model = service.model
        same = (found.device, found.dtype, found.preset) == (model.device_name, model.dtype, model.name)
        return replace(found, alone=self._alone.known(service), cores=service.threads) if same else found

    def _moving(self, page: str) -> Drawn:
        own = self._pages.get(page)
        view, swept = self._view(page, own), self._swept(own)
        return [view, gr.skip() if own.run and own.run.sweep else figures(own.shown), swept]

    def _drawn(self, page: str) -> Drawn:
        own = self._pages.get(page)
        busy, shown = own.busy, own.shown or self._shipped()
        has_own = own.shown is not None and bool(own.shown.ahead or own.shown.in_turn)
        return [
            self._view(page, own),
            figures(shown),
            theory(shown),
            self._swept(own),
            "",
            gr.update(interactive=not busy),
            gr.update(interactive=not busy),
            gr.update(interactive=busy),
            gr.update(interactive=not busy and has_own),
        ]

    def _view(self, page: str, own: SaguaroPage) -> dict[str, Any]:
        """The picture, with what is happening to the page's run, or why none can be made."""
        run, found = own.run, own.shown
        if run is not None and not run.sweep:
            state = run.state()
            share = state.share if state.phase == "running" else None
            return picture(state.found, phase=state.phase, now=self._now(run), share=share)
        if found is not None:
            return picture(found, phase="ended", now=WORDS["sag.now.loaded"] if found.recorded else "")
        return picture(self._shipped(), phase="idle", now=self._idle())

    def _swept(self, own: SaguaroPage) -> dict[str, Any]:
        run = own.run
        if run is None or not run.sweep:
            return sweep_figures(own.points)
        state = run.state()
        return sweep_figures(state.sweep, self._now(run), state.share if state.phase == "running" else None)

    def _now(self, run: SaguaroRun) -> str:
        state = run.state()
        return queued(self._pages.ahead(run)) if state.phase == "queued" else state.now

    def _idle(self) -> str:
        service = self._host.service
        if service is None:
            return WORDS["sag.now.no_model"]
        return WORDS["sag.now.idle"] if service.draft is not None else _no_draft(service)

    def _shipped(self) -> Found | None:
        """The recorded run that is shown until the visitor has one of their own."""
        if not self._recorded.exists():
            return None
        return saguaro_file.load([self._recorded])


def _no_draft(service: Service) -> str:
    pairs = ", ".join(preset.name for preset in models.PRESETS if preset.draft)
    return WORDS["sag.now.no_draft"].format(model=service.model.name, pairs=pairs)


def _said(notice: str) -> Drawn:
    return [*[gr.skip()] * 4, notice, *[gr.skip()] * 4]
