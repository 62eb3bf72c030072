"""The Compare tab: which control does what.

Where the controls stand is in `compare_layout.py`; what they do is in `compare_events.py`. No handler calls the model:
comparisons run on a thread of their own, one at a time for the whole server.
"""

from __future__ import annotations

from typing import Any

import gradio as gr

from sssd_demo.compare.in_turn import InTurn
from sssd_demo.ui.compare_events import TABLE_NAME, WHOLE_NAME, CompareEvents
from sssd_demo.ui.compare_layout import EXAMPLES, CompareLayout, build, first_lanes, lane_choices, offered_lanes
from sssd_demo.ui.datastore_access import StoreAccess
from sssd_demo.ui.service_host import ServiceHost
from sssd_demo.ui.settings_panel import choices
from sssd_demo.ui.wiring import AT_ONCE, QUIET, WAIT, put_text, save_file
from sssd_demo.ui.words import WORDS

MOST_WATCHING = 32  # pages whose comparison is followed at a time


def compare_tab(demo: gr.Blocks, tab: gr.Tab, host: ServiceHost, in_turn: InTurn) -> CompareLayout:
    """Build the tab inside the current block of `demo`. Comparisons queue in `in_turn`."""
    layout = build()
    events = CompareEvents(StoreAccess(host), in_turn)
    page = [
        layout.race, layout.results, layout.notice, layout.run, layout.stop, layout.save_table, layout.save_all,
        layout.shown,
    ]  # fmt: skip
    begun = gr.on([layout.run.click, layout.prompt.submit], events.compare, layout.settings(), page, **AT_ONCE)
    begun.then(
        events.look_on, None, page[:2], concurrency_id="compare", concurrency_limit=MOST_WATCHING, **QUIET
    ).then(events.end, None, page, **AT_ONCE)  # fmt: skip
    layout.stop.click(events.stop, None, None, **AT_ONCE)
    layout.shown.input(events.show, [layout.shown], page, **AT_ONCE)
    layout.load.upload(events.load, [layout.load], page, **AT_ONCE)
    for key, button in zip(EXAMPLES, layout.examples, strict=True):
        put_text(button, WORDS[f"example.{key}.text"], layout.prompt)
    filed = [layout.file_told, layout.file_drop, layout.notice]
    layout.file.upload(events.question_file, [layout.file], filed, **AT_ONCE)
    layout.file_drop.click(events.drop_file, None, filed, **AT_ONCE)
    save_file(layout.save_table, events.save_table, layout.saved, layout.notice, name=TABLE_NAME, binary=True)
    save_file(layout.save_all, events.save_all, layout.saved, layout.notice, name=WHOLE_NAME, binary=True)
    _offer(tab, layout, host)
    demo.unload(events.leave)
    return layout


def _offer(tab: gr.Tab, layout: CompareLayout, host: ServiceHost) -> None:
    """Keep the choice of methods and stores that of the loaded model."""
    waiting, offered_of = gr.Timer(WAIT), gr.State("")

    def offer(ticked: list[str] | None, before: str) -> list[Any]:
        """What is there now, with what was ticked `before` if that was of the same model; wait no more."""
        service = host.service
        if service is None:
            return [gr.skip()] * 4
        methods, stores = service.methods(), choices(service)[1]
        if before == service.model.name:
            known = [value for _, value in lane_choices(methods)]
            kept = [value for value in ticked or [] if value in known]
            return [offered_lanes(methods, kept), gr.update(choices=stores["choices"]), before, gr.skip()]
        lanes = offered_lanes(methods, first_lanes(methods))
        return [lanes, stores, service.model.name, gr.Timer(active=False)]

    offered = [layout.lanes, layout.store, offered_of, waiting]
    gr.on([tab.select, waiting.tick], offer, [layout.lanes, offered_of], offered, **AT_ONCE)
