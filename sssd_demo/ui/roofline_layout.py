"""Where things stand in the Roofline tab. What they do is in `roofline_tab.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr

from sssd_demo.device_presets import BYTES_PER_WEIGHT, DEVICES, MODELS
from sssd_demo.ui.components import notice, roofline_view
from sssd_demo.ui.controls import stop_button
from sssd_demo.ui.roofline_board import DRAFTING, LONGEST, SAMPLED
from sssd_demo.ui.roofline_job import SAMPLE
from sssd_demo.ui.roofline_plan import AS_HERE, HERE, THIS_MODEL, Wanted
from sssd_demo.ui.words import WORDS

MOST_BATCH = 64
CONTEXTS = (64, 128, 256, 512, 1024, 2048, 4096)


@dataclass(frozen=True)
class RooflineLayout:
    """The components that handlers read or change."""

    measure: gr.Button
    stop_measure: gr.Button
    machine_notice: gr.HTML
    machine: gr.HTML
    batch: gr.Slider
    live: gr.Checkbox
    context: gr.Dropdown
    hardware: gr.Dropdown
    model: gr.Dropdown
    bits: gr.Dropdown
    plan: gr.HTML
    methods: gr.Dropdown
    run: gr.Button
    sweep: gr.Button
    stop_run: gr.Button
    run_notice: gr.HTML
    result: gr.HTML
    devices: gr.HTML

    def wanted(self) -> list[Any]:
        """What a plan is made for, in the order of `Wanted`."""
        return [self.batch, self.context, self.hardware, self.model, self.bits]


def build() -> RooflineLayout:
    """Lay the tab out inside the current block."""
    with gr.Column(elem_id="roof-tab", elem_classes="tab-page"):
        gr.Markdown(WORDS["roof.lead"], elem_id="roof-lead", elem_classes="tab-lead")
        machine = _machine()
        plan = _plan()
        run = _run()
        devices = _devices()
    parts: list[Any] = [*machine, *plan, *run, devices]
    return RooflineLayout(*parts)


def _machine() -> tuple[Any, ...]:
    with gr.Column(elem_id="roof-machine", elem_classes="tab-section"):
        gr.Markdown(f"### {WORDS['roof.machine.title']}")
        with gr.Row(elem_classes="roof-buttons"):
            measure = gr.Button(WORDS["roof.machine.measure"], size="sm", min_width=160, elem_id="roof-measure")
            stop = stop_button("roof.stop", "roof-stop-measure", min_width=80)
        said = notice(elem_id="roof-machine-notice")
        view = roofline_view({"facts": [], "notes": []}, elem_id="roof-facts")
    return measure, stop, said, view


def _plan() -> tuple[Any, ...]:
    wanted = Wanted()
    with gr.Column(elem_id="roof-plan", elem_classes="tab-section"):
        gr.Markdown(f"### {WORDS['roof.plan.title']}\n{WORDS['roof.plan.hint']}")
        with gr.Row(elem_classes="roof-controls"):
            batch = gr.Slider(
                1, MOST_BATCH, wanted.batch, step=1, label=WORDS["roof.plan.batch"], scale=4, min_width=260,
                elem_id="roof-batch",
            )  # fmt: skip
            live = gr.Checkbox(False, label=WORDS["roof.plan.live"], scale=1, min_width=190, elem_id="roof-live")
        with gr.Row(elem_classes="roof-controls"):
            context = gr.Dropdown(
                [(f"{tokens:,}", str(tokens)) for tokens in CONTEXTS], value=str(wanted.context),
                label=WORDS["roof.plan.context"], scale=1, min_width=140, elem_id="roof-context",
            )  # fmt: skip
            hardware = gr.Dropdown(
                [
                    (WORDS["roof.plan.here"], HERE),
                    *((WORDS["roof.plan.elsewhere"].format(name=device.name), device.name) for device in DEVICES),
                ],
                value=HERE, label=WORDS["roof.plan.hardware"], scale=1, min_width=140, elem_id="roof-hardware",
            )  # fmt: skip
            model = gr.Dropdown(
                [(WORDS["roof.plan.this_model"], THIS_MODEL), *((name, name) for name in MODELS)],
                value=THIS_MODEL, label=WORDS["roof.plan.model"], scale=1, min_width=140, elem_id="roof-model",
            )  # fmt: skip
            bits = gr.Dropdown(
                [(WORDS["roof.plan.as_here"], AS_HERE), *((name, name) for name in BYTES_PER_WEIGHT)],
                value=AS_HERE, label=WORDS["roof.plan.bits"], scale=1, min_width=140, elem_id="roof-bits",
            )  # fmt: skip
        view = roofline_view({"charts": [], "notes": []}, elem_classes="ends-in-words", elem_id="roof-chosen")
    return batch, live, context, hardware, model, bits, view


def _run() -> tuple[Any, ...]:
    with gr.Column(elem_id="roof-run", elem_classes="tab-section"):
        hint = WORDS["roof.run.hint"].format(longest=LONGEST, sample=SAMPLE, s_q=SAMPLED)
        gr.Markdown(f"### {WORDS['roof.run.title']}\n{hint}")
        with gr.Row(elem_classes="roof-controls"):
            methods = gr.Dropdown(
                [(DRAFTING, DRAFTING)], value=[DRAFTING], multiselect=True, label=WORDS["roof.run.methods"],
                allow_custom_value=True, scale=3, min_width=220, elem_id="roof-methods",
            )  # fmt: skip
            run = gr.Button(
                WORDS["roof.run.one"].format(batch=Wanted().batch), variant="primary", size="sm", min_width=100,
                elem_id="roof-run-one",
            )  # fmt: skip
            sweep = gr.Button(WORDS["roof.run.sweep"], size="sm", min_width=150, elem_id="roof-run-sweep")
            stop = stop_button("roof.stop", "roof-stop-run", min_width=80)
        said = notice(elem_id="roof-run-notice")
        view = roofline_view({"charts": [], "notes": []}, elem_id="roof-measured")
    return methods, run, sweep, stop, said, view


def _devices() -> gr.HTML:
    with gr.Column(elem_id="roof-there", elem_classes="tab-section"):
        gr.Markdown(f"### {WORDS['roof.there.title']}\n{WORDS['roof.there.hint']}")
        return roofline_view({"charts": [], "notes": []}, elem_classes="ends-in-words", elem_id="roof-devices")
