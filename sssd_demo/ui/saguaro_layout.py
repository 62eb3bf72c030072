"""Where things stand in the Saguaro tab. What they do is in `saguaro_tab.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr

from sssd_demo.saguaro.options import FALLBACK_POLICIES, FAN_OUTS, MAX_BUDGET, MAX_ROLL_BACK, SaguaroOptions
from sssd_demo.ui import controls
from sssd_demo.ui.components import notice, roofline_view, saguaro_figures, saguaro_view
from sssd_demo.ui.controls import AUTO, Choices, labels
from sssd_demo.ui.saguaro_picture import picture
from sssd_demo.ui.saguaro_settings import MOST_TOKENS, SAGUARO_METHODS
from sssd_demo.ui.words import WORDS

EXAMPLES = ("code", "list", "story")
FIRST_TOKENS = 64
BUDGETS = (3, 6, 8, 12, 16, 24, 32, MAX_BUDGET)
BENDS_OFFERED = ("off", "c", "root")


@dataclass(frozen=True)
class SaguaroLayout:
    """The components that handlers read or change."""

    question: gr.Textbox
    examples: tuple[gr.Button, ...]  # one for each of `EXAMPLES`
    method: gr.Dropdown
    k: gr.Dropdown
    fan_out: gr.Dropdown
    budget: gr.Dropdown
    max_tokens: gr.Slider
    temperature: gr.Slider
    seed: gr.Number
    bend: gr.Dropdown
    c: gr.Slider
    fallback: gr.Dropdown
    nearest: gr.Checkbox
    roll_back: gr.Number
    late: gr.Textbox
    run: gr.Button
    stop: gr.Button
    save: gr.Button
    load: gr.UploadButton
    notice: gr.HTML
    view: gr.HTML
    figures: gr.HTML
    theory: gr.HTML
    sweep: gr.Button
    swept: gr.HTML
    saved: gr.Textbox  # what is handed to the browser to save; never seen

    def controls(self) -> list[Any]:
        """What a run is asked with, in the order of `saguaro_settings.asked_from`."""
        return [
            self.question, self.method, self.k, self.fan_out, self.budget, self.max_tokens, self.temperature,
            self.seed, self.bend, self.c, self.fallback, self.nearest, self.roll_back, self.late,
        ]  # fmt: skip


def build() -> SaguaroLayout:
    """Lay the tab out inside the current block."""
    with gr.Column(elem_id="saguaro-tab", elem_classes="tab-page"):
        gr.Markdown(WORDS["sag.lead"], elem_id="saguaro-lead", elem_classes="tab-lead")
        with gr.Column(elem_id="saguaro-ask", elem_classes="tab-section"):
            question, examples = _question()
            with gr.Row():
                first = _first_row()
            with gr.Accordion(WORDS["sag.more"], open=False, elem_id="saguaro-more", elem_classes="fold"):
                more = _more()
            with gr.Row(elem_id="saguaro-buttons"):
                buttons = _buttons()
            said = notice(elem_id="saguaro-notice")
        view = saguaro_view(picture(None, phase="idle", now=WORDS["sag.now.idle"]), elem_id="saguaro-view")
        figures = saguaro_figures(None, elem_id="saguaro-figures")
        with gr.Accordion(WORDS["sag.theory.title"], open=False, elem_classes="fold", elem_id="saguaro-theory-fold"):
            theory = roofline_view({"charts": [], "notes": []}, elem_classes="ends-in-words", elem_id="saguaro-theory")
        with gr.Accordion(WORDS["sag.sweep.heading"], open=False, elem_classes="fold", elem_id="saguaro-sweep-fold"):
            gr.Markdown(WORDS["sag.sweep.hint"], elem_classes="fine-print")
            sweep = gr.Button(WORDS["sag.sweep"], size="sm", min_width=100, elem_id="saguaro-sweep")
            swept = roofline_view({"charts": [], "notes": []}, elem_id="saguaro-swept")
        saved = gr.Textbox(visible=False)
    rest: list[Any] = [*first, *more, *buttons, said, view, figures, theory, sweep, swept, saved]
    return SaguaroLayout(question, examples, *rest)


def _question() -> tuple[gr.Textbox, tuple[gr.Button, ...]]:
    question = controls.question(WORDS["sag.example.code.text"], "sag.question", "saguaro-question")
    with gr.Row(elem_id="saguaro-examples"):
        examples = tuple(gr.Button(WORDS[f"sag.example.{key}"], size="sm", min_width=80) for key in EXAMPLES)
    return question, examples


def _choice(choices: Choices, value: str, name: str, **settings: Any) -> gr.Dropdown:
    elem_id = f"saguaro-{name.replace('_', '-')}"
    return controls.choice(choices, value, min_width=150, elem_id=elem_id, **labels(f"sag.{name}"), **settings)


def _first_row() -> tuple[Any, ...]:
    fan_outs: Choices = [(WORDS[f"sag.fan_out.{name}"], name) for name in FAN_OUTS]
    return (
        _choice([(method, method) for method in SAGUARO_METHODS], SAGUARO_METHODS[0], "method", scale=2),
        _choice(controls.k_choices(), AUTO, "k", scale=2),
        _choice(fan_outs, SaguaroOptions.fan_out, "fan_out", scale=3),
        _choice(controls.auto_or(BUDGETS), AUTO, "budget", scale=2),
        gr.Slider(
            1, MOST_TOKENS, FIRST_TOKENS, step=1, scale=2, min_width=150, elem_id="saguaro-max",
            **labels("set.answer_tokens"),
        ),
    )  # fmt: skip


def _more() -> tuple[Any, ...]:
    default = SaguaroOptions()
    with gr.Row():
        temperature = controls.temperature(min_width=150, elem_id="saguaro-temperature")
        seed = controls.seed()
        bend = _choice([(WORDS[f"sag.bend.{name}"], name) for name in BENDS_OFFERED], default.bend, "bend")
        c = gr.Slider(0, 1, default.c, step=0.05, min_width=130, elem_id="saguaro-c", **labels("sag.c"))
    with gr.Row():
        policies: Choices = [(WORDS[f"sag.fallback.policy.{name}"], name) for name in FALLBACK_POLICIES]
        fallback = _choice(policies, default.fallback, "fallback")
        nearest = gr.Checkbox(default.nearest, min_width=150, **labels("sag.nearest"))
        roll_back = gr.Number(
            default.roll_back_after, precision=0, minimum=0, maximum=MAX_ROLL_BACK, min_width=130,
            elem_id="saguaro-roll-back", **labels("sag.roll_back"),
        )  # fmt: skip
        late = gr.Textbox("", min_width=130, elem_id="saguaro-late", **labels("sag.late"))
    return temperature, seed, bend, c, fallback, nearest, roll_back, late


def _buttons() -> tuple[Any, ...]:
    return (
        gr.Button(WORDS["sag.run"], variant="primary", size="sm", min_width=90, elem_id="saguaro-run"),
        controls.stop_button("sag.stop", "saguaro-stop"),
        gr.Button(WORDS["sag.save"], size="sm", min_width=110, interactive=False, elem_id="saguaro-save"),
        gr.UploadButton(
            WORDS["sag.load"], size="sm", min_width=110, file_types=[".json", ".trace"], file_count="multiple",
            elem_id="saguaro-load",
        ),
    )  # fmt: skip
