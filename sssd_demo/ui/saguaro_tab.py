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
from sssd_demo.ui.wiring import AT_ONCE, QUIET, WAIT, put_text, save_file
from sssd_demo.ui.words import WORDS

MOST_WATCHING = 32  # pages whose run is followed at a time


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
        **QUIET,
    }
    asks = [layout.run.click, layout.question.submit]
    for triggers, begin in ((asks, events.run), ([layout.sweep.click], events.sweep)):
        begun = gr.on(triggers, begin, layout.controls(), page, **AT_ONCE)
        begun.then(**follow).then(events.end, None, page, **AT_ONCE)
    layout.stop.click(events.stop, None, None, **AT_ONCE)
    layout.load.upload(events.load, [layout.load], page, **AT_ONCE)
    save_file(layout.save, events.save, layout.saved, layout.notice, name=FILE_NAME)
    for key, button in zip(EXAMPLES, layout.examples, strict=True):
        put_text(button, WORDS[f"sag.example.{key}.text"], layout.question)
    _offer(tab, events, host, page)
    demo.unload(events.leave)
    return layout


def _offer(tab: gr.Tab, events: SaguaroEvents, host: ServiceHost, page: list[Any]) -> None:
    """Show what is known when the tab is opened, and once the model is there."""
    waiting = gr.Timer(WAIT)

    def first(request: gr.Request) -> list[Any]:
        """Once the model is there, the same; wait no more."""
        if host.service is None:
            return [gr.skip()] * (len(page) + 1)
        return [*events.look(request), gr.Timer(active=False)]

    tab.select(events.look, None, page, **AT_ONCE)
    waiting.tick(first, None, [*page, waiting], **AT_ONCE)
