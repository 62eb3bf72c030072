"""The Roofline tab: which control does what.

Where the controls stand is in `roofline_layout.py`; what they do is in `roofline_events.py`. No handler calls the
model: plans are arithmetic, and measurements have a thread of their own.
"""

from __future__ import annotations

from typing import Any

import gradio as gr

from sssd_demo.ui.roofline_events import RooflineEvents
from sssd_demo.ui.roofline_layout import RooflineLayout, build
from sssd_demo.ui.service_host import ServiceHost
from sssd_demo.ui.sessions import Sessions
from sssd_demo.ui.wiring import AT_ONCE, QUIET, WAIT

LIVE = 1.0  # seconds between looks at what visitors are doing
MOST_FOLLOWED = 8  # pages that follow a measurement at a time


def roofline_tab(demo: gr.Blocks, tab: gr.Tab, host: ServiceHost, sessions: Sessions) -> RooflineLayout:
    """Build the tab inside the current block of `demo`."""
    layout, events = build(), RooflineEvents(host, sessions)
    _plan(layout, events)
    _measure(layout, events)
    _run(layout, events)
    _offer(tab, layout, events, host)
    demo.unload(events.leave)
    return layout


def _plan(layout: RooflineLayout, events: RooflineEvents) -> None:
    changed = [layout.batch.input, *(each.input for each in layout.wanted()[1:])]
    planned = [layout.plan, layout.devices, layout.run]
    gr.on(changed, events.replan, layout.wanted(), planned, trigger_mode="always_last", **AT_ONCE)
    ticking = gr.Timer(LIVE, active=False)
    followed = [layout.plan, layout.devices, layout.batch, layout.run]
    layout.live.input(lambda on: gr.Timer(active=bool(on)), [layout.live], [ticking], **AT_ONCE)
    layout.live.input(events.replan, layout.wanted(), planned, **AT_ONCE)
    ticking.tick(events.live, layout.wanted(), followed, **AT_ONCE)


def _measure(layout: RooflineLayout, events: RooflineEvents) -> None:
    buttons = [layout.measure, layout.stop_measure]
    layout.measure.click(events.measure, None, [layout.machine_notice, layout.machine, *buttons], **AT_ONCE).then(
        events.follow_measure,
        layout.wanted(),
        [layout.machine, layout.plan, layout.devices, *buttons],
        concurrency_id="roofline",
        concurrency_limit=MOST_FOLLOWED,
        **QUIET,
    )
    gr.on([layout.stop_measure.click, layout.stop_run.click], events.stop, None, None, **AT_ONCE)


def _run(layout: RooflineLayout, events: RooflineEvents) -> None:
    buttons = [layout.run, layout.sweep, layout.stop_run]
    begun = [layout.run_notice, layout.result, *buttons]
    follow: dict[str, Any] = {
        "fn": events.follow_run,
        "inputs": layout.wanted(),
        "outputs": [layout.result, layout.plan, layout.devices, *buttons],
        "concurrency_id": "roofline",
        "concurrency_limit": MOST_FOLLOWED,
        **QUIET,
    }
    layout.run.click(events.run, [layout.batch, layout.methods], begun, **AT_ONCE).then(**follow)
    layout.sweep.click(events.sweep, [layout.methods], begun, **AT_ONCE).then(**follow)


def _offer(tab: gr.Tab, layout: RooflineLayout, events: RooflineEvents, host: ServiceHost) -> None:
    """Show what is known when the tab is opened, and once the model is there."""
    waiting = gr.Timer(WAIT)
    shown = [layout.machine, layout.plan, layout.result, layout.devices, layout.methods]

    def first(request: gr.Request, *controls: Any) -> list[Any]:
        """Once the model is there, the same; wait no more."""
        if host.service is None:
            return [gr.skip()] * (len(shown) + 1)
        return [*events.look(request, *controls), gr.Timer(active=False)]

    tab.select(events.look, layout.wanted(), shown, **AT_ONCE)
    waiting.tick(first, layout.wanted(), [*shown, waiting], **AT_ONCE)
