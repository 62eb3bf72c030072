"""What Gradio calls for the growing store of the Datastore tab: Play, Pause, Start over, and pictures meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradio as gr

from sssd_demo.errors import UserError
from sssd_demo.service import Service
from sssd_demo.ui.datastore_access import StoreAccess, page_of
from sssd_demo.ui.datastore_layout import ROOMS
from sssd_demo.ui.growth_run import OVER, GrowthRun, RunState
from sssd_demo.ui.growth_runs import GrowthRuns, prompts
from sssd_demo.ui.growth_value import growth_value
from sssd_demo.ui.sessions import new_id
from sssd_demo.ui.words import WORDS

SHOW_EVERY = 0.5  # seconds between two pictures of a run
LONGEST_ANSWER = 64  # tokens; short, so that the store grows while one watches

# Values for the growth view, its notice, Play, Pause, Start over and the choice of room.
Drawn = list[Any]
_UNCHANGED: Drawn = [gr.skip()] * 6


class GrowthEvents:
    """Each page has its own run in `runs`."""

    def __init__(self, access: StoreAccess, runs: GrowthRuns) -> None:
        self._access, self._runs = access, runs

    def idle(self) -> dict[str, Any]:
        """The picture before anything has run."""
        try:
            planned = len(prompts())
        except UserError:
            planned = 0  # Play says why
        return growth_value(None, planned=planned, longest=LONGEST_ANSWER)

    def play(self, room: str, request: gr.Request) -> Drawn:
        page = page_of(request)
        try:
            service = self._access.service()
            run = self._runs.play(page, lambda: _begin(service, room))
        except UserError as error:
            return self._refused(page, str(error))
        return _drawn(run.state())

    def start_over(self, room: str, request: gr.Request) -> Drawn:
        self._runs.drop(page_of(request))
        return self.play(room, request)

    def pause(self, request: gr.Request) -> Drawn:
        run = self._runs.get(page_of(request))
        if run is None:
            return _UNCHANGED
        run.pause()
        return _drawn(run.state())

    def watch(self, request: gr.Request) -> Iterator[Drawn]:
        run = self._runs.get(page_of(request))
        if run is not None:  # else it was refused, and the notice says why
            for state in run.watch(SHOW_EVERY):
                yield _drawn(state)
        yield _UNCHANGED  # Gradio sends the last value once more; by then another run may be on show

    def leave(self, request: gr.Request) -> None:
        self._runs.drop(page_of(request))

    def _refused(self, page: str, reason: str) -> Drawn:
        if self._runs.get(page) is not None:  # it stays as it is
            return [gr.skip(), reason, *_UNCHANGED[2:]]
        off, on = gr.update(interactive=False), gr.update(interactive=True)
        return [self.idle(), reason, gr.update(value=WORDS["store.grow.play"], interactive=True), off, off, on]


def _begin(service: Service, room: str) -> GrowthRun:
    limits = ROOMS.get(room, ROOMS["small"])
    return GrowthRun(service, prompts(), id=f"growth-{new_id()}", limits=limits, max_new_tokens=LONGEST_ANSWER)


def _drawn(state: RunState) -> Drawn:
    running, over = state.phase == "running", state.phase in OVER
    return [
        growth_value(state, planned=state.planned, longest=LONGEST_ANSWER),
        "",
        gr.update(
            value=WORDS["store.grow.resume" if state.phase in ("pausing", "paused") else "store.grow.play"],
            interactive=not running and not over,
        ),
        gr.update(interactive=running),
        gr.update(interactive=True),
        gr.update(interactive=over or state.phase == "paused"),
    ]
