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
from sssd_demo.ui.words import WORDS

WAIT = 1.5  # seconds between looks at whether the model is there
MOST_WATCHING = 32  # pages whose comparison is followed at a time

_QUIET: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
_AT_ONCE: dict[str, Any] = {**_QUIET, "queue": False}


def compare_tab(demo: gr.Blocks, tab: gr.Tab, host: ServiceHost, in_turn: InTurn | None = None) -> CompareLayout:
    """Build the tab inside the current block of `demo`. Comparisons queue in `in_turn`."""
    layout = build()
    events = CompareEvents(StoreAccess(host), in_turn)
    page = [
        layout.race, layout.results, layout.notice, layout.run, layout.stop, layout.save_table, layout.save_all,
        layout.shown,
    ]  # fmt: skip
    begun = gr.on([layout.run.click, layout.prompt.submit], events.compare, layout.settings(), page, **_AT_ONCE)
    begun.then(
        events.look_on, None, page[:2], concurrency_id="compare", concurrency_limit=MOST_WATCHING, **_QUIET
    ).then(events.end, None, page, **_AT_ONCE)  # fmt: skip
    layout.stop.click(events.stop, None, None, **_AT_ONCE)
    layout.shown.input(events.show, [layout.shown], page, **_AT_ONCE)
    layout.load.upload(events.load, [layout.load], page, **_AT_ONCE)
    for key, button in zip(EXAMPLES, layout.examples, strict=True):
        button.click(_example(key), None, [layout.prompt], **_AT_ONCE)
    filed = [layout.file_told, layout.file_drop, layout.notice]
    layout.file.upload(events.question_file, [layout.file], filed, **_AT_ONCE)
    layout.file_drop.click(events.drop_file, None, filed, **_AT_ONCE)
    for button, save, name in (
        (layout.save_table, events.save_table, TABLE_NAME),
        (layout.save_all, events.save_all, WHOLE_NAME),
    ):
        button.click(save, None, [layout.saved, layout.notice], **_AT_ONCE).then(
            None, [layout.saved], js=f"(data) => window.sssdDemo.saveBytes('{name}', data)", **_AT_ONCE
        )
    _offer(tab, layout, host)
    demo.unload(events.leave)
    return layout


def _example(key: str) -> Any:
    return lambda: WORDS[f"example.{key}.text"]


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
    gr.on([tab.select, waiting.tick], offer, [layout.lanes, offered_of], offered, **_AT_ONCE)
