"""The Datastore tab: which control does what.

Where the controls stand is in `datastore_layout.py`; what they do is in `growth_events.py`,
`datastore_lookup_events.py` and `datastore_fill_events.py`. No handler calls the model or sorts anything itself.
"""

from __future__ import annotations

from typing import Any

import gradio as gr

from sssd_demo.ui.datastore_access import StoreAccess, page_of
from sssd_demo.ui.datastore_experiments import experiments
from sssd_demo.ui.datastore_fill_events import FillEvents
from sssd_demo.ui.datastore_layout import RUN, DatastoreLayout, build, store_choices
from sssd_demo.ui.datastore_lookup_events import LookupEvents
from sssd_demo.ui.growth_events import GrowthEvents
from sssd_demo.ui.growth_runs import MOST_RUNNING, GrowthRuns
from sssd_demo.ui.service_host import ServiceHost
from sssd_demo.ui.sessions import Sessions
from sssd_demo.ui.wiring import AT_ONCE, QUIET, WAIT

MOST_FILLING = 8  # pages whose filling is followed at a time


def datastore_tab(
    demo: gr.Blocks, tab: gr.Tab, host: ServiceHost, sessions: Sessions, *, forget: gr.Button
) -> DatastoreLayout:
    """Build the tab inside the current block of `demo`. `forget` stands elsewhere and empties the own store too."""
    access, runs = StoreAccess(host), GrowthRuns()
    growth, lookup, fill = GrowthEvents(access, runs), LookupEvents(access, runs, sessions), FillEvents(access)
    layout = build(growth.idle(), experiments())
    _grow(layout, growth)
    _look(layout, lookup)
    _fill(layout, fill, lookup, forget)
    _offer(tab, layout, access)
    demo.unload(growth.leave)
    demo.unload(fill.leave)
    return layout


def _grow(layout: DatastoreLayout, events: GrowthEvents) -> None:
    run = [layout.growth, layout.growth_notice, layout.play, layout.pause, layout.again, layout.room]
    follow: dict[str, Any] = {
        "fn": events.watch,
        "inputs": None,
        "outputs": run,
        "concurrency_id": "growth",
        "concurrency_limit": 2 * MOST_RUNNING,
        **QUIET,
    }
    layout.play.click(events.play, [layout.room], run, **AT_ONCE).then(**follow)
    layout.again.click(events.start_over, [layout.room], run, **AT_ONCE).then(**follow)
    layout.pause.click(events.pause, None, run, **AT_ONCE)


def _look(layout: DatastoreLayout, events: LookupEvents) -> None:
    asked = [layout.query, layout.store]
    gr.on(
        [layout.look.click, layout.query.submit, layout.query.input, layout.store.input],
        events.look_up,
        asked,
        [layout.lookup],
        trigger_mode="always_last",
        **AT_ONCE,
    )
    shown = [layout.query, layout.lookup]
    layout.from_chat.click(events.from_chat, [layout.store], shown, **AT_ONCE)
    for example in layout.examples:
        example.click(events.given, [example, layout.store], shown, **AT_ONCE)


def _fill(layout: DatastoreLayout, events: FillEvents, lookup: LookupEvents, forget: gr.Button) -> None:
    filled = [layout.fill_notice, layout.mine, layout.cancel]
    follow: dict[str, Any] = {
        "fn": events.follow,
        "inputs": None,
        "outputs": [*filled, layout.store],
        "concurrency_id": "fill",
        "concurrency_limit": MOST_FILLING,
        **QUIET,
    }
    layout.add.click(events.text, [layout.text], filled, **AT_ONCE).then(**follow)
    layout.files.upload(events.files, [layout.files], filled, **AT_ONCE).then(**follow)
    layout.stdlib.click(events.stdlib, None, filled, **AT_ONCE).then(**follow)
    layout.cancel.click(events.cancel, None, None, **AT_ONCE)
    gr.on([layout.clear.click, forget.click], events.clear, None, filled, **AT_ONCE).then(
        lookup.emptied, [layout.store], [layout.lookup], **AT_ONCE
    )


def _offer(tab: gr.Tab, layout: DatastoreLayout, access: StoreAccess) -> None:
    """Keep the choice of stores and the map of the visitor's own one true."""
    waiting = gr.Timer(WAIT)

    def offer(request: gr.Request) -> list[Any]:
        service = access.host.service
        names = service.store_names() if service else []
        choices = store_choices(names, shared=service is not None)
        return [gr.update(choices=choices), access.own_map(page_of(request))]

    def offer_first(chosen: str | None, request: gr.Request) -> list[Any]:
        """Once the model is there: the same, with a store that has something in it if none was chosen; wait no more."""
        service = access.host.service
        if service is None:
            return [gr.skip()] * 3
        stores, mine = offer(request)
        filled = service.store_names()[:1] if chosen == RUN else []
        return [stores | ({"value": filled[0]} if filled else {}), mine, gr.Timer(active=False)]

    offered = [layout.store, layout.mine]
    tab.select(offer, None, offered, **AT_ONCE)
    waiting.tick(offer_first, [layout.store], [*offered, waiting], **AT_ONCE)
