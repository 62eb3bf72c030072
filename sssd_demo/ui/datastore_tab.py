"""The Datastore tab: which control does what.

Where the controls stand is in `datastore_layout.py`; growing is in `growth_run.py`, looking up in
`datastore_lookup.py`, filling in `datastore_fill.py`. No handler calls the model or sorts anything itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gradio as gr

from sssd_demo.errors import UserError
from sssd_demo.service import Service
from sssd_demo.sssd.live_store import LiveStore
from sssd_demo.sssd.sub_index import SubIndex
from sssd_demo.ui.datastore_experiments import experiments
from sssd_demo.ui.datastore_fill import (
    FillJob,
    FillJobs,
    Read,
    forget_files,
    pasted,
    standard_library,
    uploaded,
)
from sssd_demo.ui.datastore_layout import MINE, ROOMS, RUN, SHARED, DatastoreLayout, build, store_choices
from sssd_demo.ui.datastore_lookup import lookup_value, nothing
from sssd_demo.ui.datastore_map import map_value
from sssd_demo.ui.growth_run import OVER, GrowthRun, RunState
from sssd_demo.ui.growth_runs import MOST_RUNNING, GrowthRuns, prompts
from sssd_demo.ui.growth_value import growth_value
from sssd_demo.ui.service_host import ServiceHost
from sssd_demo.ui.sessions import Sessions, new_id
from sssd_demo.ui.words import WORDS

SHOW_EVERY = 0.5  # seconds between two pictures of a run
SETTLED_WITHIN = 10.0  # seconds that a store is watched after text was added
WAIT = 1.5  # seconds between looks at whether the model is there
LONGEST_ANSWER = 64  # tokens; short, so that the store grows while one watches
LONGEST_QUERY = 2000  # characters
CHAT_TOKENS = 12  # of the end of the chat that are looked up

_QUIET: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
_AT_ONCE: dict[str, Any] = {**_QUIET, "queue": False}


def datastore_tab(demo: gr.Blocks, tab: gr.Tab, host: ServiceHost, sessions: Sessions) -> DatastoreLayout:
    """Build the tab inside the current block of `demo`."""
    handlers = _Handlers(host, sessions)
    layout = build(handlers.idle(), experiments())

    run = [layout.growth, layout.growth_notice, layout.play, layout.pause, layout.again, layout.room]
    watching = {"concurrency_id": "growth", "concurrency_limit": 2 * MOST_RUNNING, **_QUIET}
    layout.play.click(handlers.play, [layout.room], run, **_AT_ONCE).then(handlers.watch, None, run, **watching)
    layout.pause.click(handlers.pause, None, run, **_AT_ONCE)
    layout.again.click(handlers.start_over, [layout.room], run, **_AT_ONCE).then(handlers.watch, None, run, **watching)

    asked = [layout.query, layout.store]
    gr.on(
        [layout.look.click, layout.query.submit, layout.query.input, layout.store.input],
        handlers.look_up, asked, [layout.lookup], trigger_mode="always_last", **_AT_ONCE,
    )  # fmt: skip
    layout.from_chat.click(handlers.from_chat, [layout.store], [layout.query, layout.lookup], **_AT_ONCE)
    for example in layout.examples:
        example.click(handlers.example, [example, layout.store], [layout.query, layout.lookup], **_AT_ONCE)

    filled = [layout.fill_notice, layout.mine, layout.cancel]
    follow = {"fn": handlers.follow_fill, "inputs": None, "outputs": filled, "concurrency_id": "fill", **_QUIET}
    layout.add.click(handlers.fill_text, [layout.text], filled, **_AT_ONCE).then(**follow, concurrency_limit=8)
    layout.files.upload(handlers.fill_files, [layout.files], filled, **_AT_ONCE).then(**follow)
    layout.stdlib.click(handlers.fill_stdlib, None, filled, **_AT_ONCE).then(**follow)
    layout.cancel.click(handlers.cancel_fill, None, None, **_AT_ONCE)
    layout.clear.click(handlers.clear, None, filled, **_AT_ONCE)

    offered = [layout.store, layout.mine]
    tab.select(handlers.offer, None, offered, **_AT_ONCE)
    waiting = gr.Timer(WAIT)
    waiting.tick(handlers.offer_first, None, [*offered, waiting], **_AT_ONCE)
    demo.unload(handlers.leave)
    return layout


class _Handlers:
    """What Gradio calls. The id of a page comes with each request."""

    def __init__(self, host: ServiceHost, sessions: Sessions) -> None:
        self._host, self._sessions = host, sessions
        self._runs, self._jobs = GrowthRuns(), FillJobs()

    # growing

    def idle(self) -> dict[str, Any]:
        try:
            planned = len(prompts())
        except UserError:
            planned = 0
        return growth_value(None, planned=planned, longest=LONGEST_ANSWER)

    def play(self, room: str, request: gr.Request) -> list[Any]:
        try:
            service = self._service()
            run = self._runs.play(_page(request), lambda: self._begin(service, room))
        except UserError as error:
            return [gr.skip(), str(error), gr.skip(), gr.skip(), gr.skip(), gr.skip()]
        return _drawn(run.state())

    def start_over(self, room: str, request: gr.Request) -> list[Any]:
        self._runs.drop(_page(request))
        return self.play(room, request)

    def pause(self, request: gr.Request) -> list[Any]:
        run = self._runs.get(_page(request))
        if run is None:
            return [gr.skip()] * 6
        run.pause()
        return _drawn(run.state())

    def watch(self, request: gr.Request) -> Iterator[list[Any]]:
        run = self._runs.get(_page(request))
        if run is not None:  # else it was refused, and the notice says why
            for state in run.watch(SHOW_EVERY):
                yield _drawn(state)
        yield [gr.skip()] * 6  # Gradio sends the last value once more; by then another run may be on show

    def _begin(self, service: Service, room: str) -> GrowthRun:
        limits = ROOMS.get(room, ROOMS["small"])
        return GrowthRun(service, prompts(), id=f"growth-{new_id()}", limits=limits, max_new_tokens=LONGEST_ANSWER)

    # looking up

    def look_up(self, text: str | None, store: str | None, request: gr.Request) -> dict[str, Any]:
        text = text or ""
        try:
            if len(text) > LONGEST_QUERY:
                raise UserError(WORDS["store.look.too_long"].format(most=LONGEST_QUERY))
            service = self._service()
            sub_indices = self._sub_indices(service, store or MINE, _page(request))
            ids = service.text.encode(text)
            if not ids:
                raise UserError(WORDS["store.look.empty_text"])
            return lookup_value(sub_indices, ids, service.text.token_bytes, secret=store == SHARED)
        except UserError as error:
            return nothing(str(error))

    def from_chat(self, store: str | None, request: gr.Request) -> tuple[Any, Any]:
        session, service = self._sessions.get(_page(request)), self._host.service
        trace = session.shown or (session.traces[max(session.traces)] if session.traces else None)
        if trace is None or service is None:
            return gr.skip(), nothing(WORDS["store.look.no_chat"])
        written = [token for token in trace.token_ids() if token not in service.text.end_tokens]
        data = b"".join(trace.token_bytes[token] for token in written[-CHAT_TOKENS:])
        return self.example(data.decode("utf-8", errors="ignore"), store, request)

    def example(self, text: str, store: str | None, request: gr.Request) -> tuple[str, dict[str, Any]]:
        return text, self.look_up(text, store, request)

    def _sub_indices(self, service: Service, name: str, page: str) -> Sequence[SubIndex]:
        """What the store holds now. Raises `UserError` if there is none of that name, or nothing in it."""
        found: Sequence[SubIndex]
        if name == RUN:
            run = self._runs.get(page)
            found = run.sub_indices if run is not None and run.service is service else ()
            empty = WORDS["store.look.empty_run"]
        elif name == MINE:
            found, empty = self._mine(service, page).sub_indices, WORDS["store.look.empty_mine"]
        elif name == SHARED:
            found, empty = service.stores.shared().sub_indices, WORDS["store.look.empty_store"]
        else:
            found, empty = service.stores.open(name).sub_indices, WORDS["store.look.empty_store"]
        if not found:
            raise UserError(empty)
        return found

    # filling

    def fill_text(self, text: str | None, request: gr.Request) -> list[Any]:
        return self._fill(request, lambda service: pasted(text or "", service.text), WORDS["store.fill.pasted"])

    def fill_files(self, paths: list[str] | None, request: gr.Request) -> list[Any]:
        paths = [str(path) for path in paths or []]
        what = ", ".join(path.rsplit("/", 1)[-1] for path in paths)
        return self._fill(request, lambda service: uploaded(paths, service.text), what, paths)

    def fill_stdlib(self, request: gr.Request) -> list[Any]:
        return self._fill(request, lambda service: standard_library(service.text), WORDS["store.fill.the_stdlib"])

    def _fill(
        self, request: gr.Request, source: Callable[[Service], Read], what: str, uploads: Sequence[str] = ()
    ) -> list[Any]:
        page = _page(request)
        try:
            service = self._service()
            read = source(service)
            self._jobs.begin(page, lambda: FillJob(self._mine(service, page), read, what, uploads=uploads))
        except UserError as error:
            forget_files(uploads)
            return [str(error), gr.skip(), gr.skip()]
        return ["", gr.skip(), gr.update(interactive=True)]

    def follow_fill(self, request: gr.Request) -> Iterator[list[Any]]:
        job = self._jobs.get(_page(request))
        if job is None:
            yield [gr.skip()] * 3
            return
        for state in job.watch(SHOW_EVERY):
            yield [state.said, self._map(request), gr.update(interactive=not state.over)]
        if self._host.service is not None:  # merging goes on for a while: show what the store has become
            self._mine(self._host.service, _page(request)).settle(SETTLED_WITHIN)
            yield [gr.skip(), self._map(request), gr.skip()]

    def cancel_fill(self, request: gr.Request) -> None:
        self._jobs.cancel(_page(request))

    def clear(self, request: gr.Request) -> list[Any]:
        self._jobs.cancel(_page(request))
        if self._host.service is not None:
            self._host.service.drop_session(self._session_id(_page(request)))
        return [WORDS["store.fill.cleared"], map_value(None), gr.update(interactive=False)]

    # the page

    def offer(self, request: gr.Request) -> list[Any]:
        """What can be looked into now, and what the visitor's own store has become."""
        service = self._host.service
        names = service.store_names() if service else []
        return [gr.update(choices=store_choices(names, shared=service is not None)), self._map(request)]

    def offer_first(self, request: gr.Request) -> list[Any]:
        """Once the model is there: the same, with a store chosen that has something in it; and wait no longer."""
        service = self._host.service
        if service is None:
            return [gr.skip()] * 3
        stores, mine = self.offer(request)
        names = service.store_names()
        return [stores | ({"value": names[0]} if names else {}), mine, gr.Timer(active=False)]

    def leave(self, request: gr.Request) -> None:
        self._runs.drop(_page(request))
        self._jobs.drop(_page(request))

    def _map(self, request: gr.Request) -> dict[str, Any]:
        service = self._host.service
        return map_value(self._mine(service, _page(request)).state() if service else None)

    def _mine(self, service: Service, page: str) -> LiveStore:
        return service.session_store(self._session_id(page))

    def _session_id(self, page: str) -> str:
        return self._sessions.get(page).id

    def _service(self) -> Service:
        """Raises `UserError` before the model is there."""
        service, loading = self._host.service, self._host.loading
        if service is None:
            raise UserError(loading.stage if loading.state == "failed" else WORDS["store.loading"])
        return service


def _drawn(state: RunState) -> list[Any]:
    """Values for the growth view, its notice, its three buttons and the choice of room."""
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


def _page(request: gr.Request) -> str:
    return request.session_hash or ""
