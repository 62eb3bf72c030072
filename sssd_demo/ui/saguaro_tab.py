"""The Saguaro tab: which control does what.

Where the controls stand is in `saguaro_layout.py`; what they do is in `saguaro_events.py`. No handler calls the model:
runs have the thread on which comparisons are made, one after another for the whole server.
"""

from __future__ import annotations

from typing import Any

import gradio as gr

from sssd_demo.compare.in_turn import InTurn
from sssd_demo.ui.saguaro_events import FILE_NAME, SaguaroEvents
from sssd_demo.ui.saguaro_layout import EXAMPLES, SaguaroLayout, build
from sssd_demo.ui.service_host import ServiceHost
from sssd_demo.ui.words import WORDS

WAIT = 1.5  # seconds between looks at whether the model is there
MOST_WATCHING = 32  # pages whose run is followed at a time

_QUIET: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
_AT_ONCE: dict[str, Any] = {**_QUIET, "queue": False}


def saguaro_tab(demo: gr.Blocks, tab: gr.Tab, host: ServiceHost, in_turn: InTurn) -> SaguaroLayout:
    """Build the tab inside the current block of `demo`. Runs queue in `in_turn`."""
    layout, events = build(), SaguaroEvents(host, in_turn)
    shown = [layout.view, layout.figures, layout.theory, layout.swept]
    page = [*shown, layout.notice, layout.run, layout.sweep, layout.stop, layout.save]
    follow: dict[str, Any] = {
        "fn": events.follow,
        "inputs": None,
        "outputs": [layout.view, layout.figures, layout.swept],
        "concurrency_id": "saguaro",
        "concurrency_limit": MOST_WATCHING,
        **_QUIET,
    }
    asks = [layout.run.click, layout.question.submit]
    for triggers, begin in ((asks, events.run), ([layout.sweep.click], events.sweep)):
        begun = gr.on(triggers, begin, layout.controls(), page, **_AT_ONCE)
        begun.then(**follow).then(events.end, None, page, **_AT_ONCE)
    layout.stop.click(events.stop, None, None, **_AT_ONCE)
    layout.load.upload(events.load, [layout.load], page, **_AT_ONCE)
    layout.save.click(events.save, None, [layout.saved, layout.notice], **_AT_ONCE).then(
        None, [layout.saved], js=f"(text) => window.sssdDemo.save('{FILE_NAME}', text)", **_AT_ONCE
    )
    for key, button in zip(EXAMPLES, layout.examples, strict=True):
        button.click(_example(key), None, [layout.question], **_AT_ONCE)
    _offer(tab, events, host, page)
    demo.unload(events.leave)
    return layout


def _example(key: str) -> Any:
    return lambda: WORDS[f"sag.example.{key}.text"]


def _offer(tab: gr.Tab, events: SaguaroEvents, host: ServiceHost, page: list[Any]) -> None:
    """Show what is known when the tab is opened, and once the model is there."""
    waiting = gr.Timer(WAIT)

    def first(request: gr.Request) -> list[Any]:
        """Once the model is there, the same; wait no more."""
        if host.service is None:
            return [gr.skip()] * (len(page) + 1)
        return [*events.look(request), gr.Timer(active=False)]

    tab.select(events.look, None, page, **_AT_ONCE)
    waiting.tick(first, None, [*page, waiting], **_AT_ONCE)
