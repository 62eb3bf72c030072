"""Where things stand in the Saguaro tab. What they do is in `saguaro_tab.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr

from sssd_demo.request import MAX_K
from sssd_demo.saguaro.options import FALLBACK_POLICIES, FAN_OUTS, MAX_BUDGET, MAX_ROLL_BACK, SaguaroOptions
from sssd_demo.sampling import MAX_TEMPERATURE
from sssd_demo.service import Settings
from sssd_demo.ui.components import notice, roofline_view, saguaro_figures, saguaro_view
from sssd_demo.ui.saguaro_picture import picture
from sssd_demo.ui.saguaro_settings import MOST_TOKENS, SAGUARO_METHODS
from sssd_demo.ui.settings_panel import AUTO
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
    with gr.Column(elem_id="saguaro-tab"):
        gr.Markdown(WORDS["sag.lead"], elem_id="saguaro-lead")
        with gr.Column(elem_id="saguaro-ask", elem_classes="store-section"):
            question, examples = _question()
            with gr.Row(elem_classes="saguaro-controls"):
                first = _first_row()
            with gr.Accordion(WORDS["sag.more"], open=False, elem_id="saguaro-more"):
                more = _more()
            with gr.Row(elem_id="saguaro-buttons"):
                buttons = _buttons()
            said = notice(elem_id="saguaro-notice")
        view = saguaro_view(picture(None, phase="idle", now=WORDS["sag.now.idle"]), elem_id="saguaro-view")
        figures = saguaro_figures(None, elem_id="saguaro-figures")
        with gr.Accordion(WORDS["sag.theory.title"], open=False, elem_id="saguaro-theory-fold"):
            theory = roofline_view({"charts": [], "notes": []}, elem_id="saguaro-theory")
        with gr.Accordion(WORDS["sag.sweep.heading"], open=False, elem_id="saguaro-sweep-fold"):
            gr.Markdown(WORDS["sag.sweep.hint"], elem_classes="store-fine")
            sweep = gr.Button(WORDS["sag.sweep"], size="sm", min_width=100, elem_id="saguaro-sweep")
            swept = roofline_view({"charts": [], "notes": []}, elem_id="saguaro-swept")
        saved = gr.Textbox(visible=False)
    rest: list[Any] = [*first, *more, *buttons, said, view, figures, theory, sweep, swept, saved]
    return SaguaroLayout(question, examples, *rest)


def _question() -> tuple[gr.Textbox, tuple[gr.Button, ...]]:
    question = gr.Textbox(
        WORDS["sag.example.code.text"],
        label=WORDS["sag.question"],
        placeholder=WORDS["sag.question_hint"],
        lines=1,
        max_lines=6,
        elem_id="saguaro-question",
    )
    with gr.Row(elem_id="saguaro-examples"):
        examples = tuple(gr.Button(WORDS[f"sag.example.{key}"], size="sm", min_width=80) for key in EXAMPLES)
    return question, examples


def _choice(choices: list[tuple[str, str]], value: str, name: str, **settings: Any) -> gr.Dropdown:
    return gr.Dropdown(
        choices,
        value=value,
        label=WORDS[f"sag.{name}"],
        info=WORDS[f"sag.{name}_hint"],
        min_width=150,
        allow_custom_value=True,  # what makes no sense is refused in a sentence
        elem_id=f"saguaro-{name.replace('_', '-')}",
        **settings,
    )


def _first_row() -> tuple[Any, ...]:
    default = SaguaroOptions()
    auto = (WORDS["set.s_q.auto"], AUTO)
    return (
        _choice([(method, method) for method in SAGUARO_METHODS], SAGUARO_METHODS[0], "method", scale=2),
        _choice([auto, *((str(n), str(n)) for n in range(1, MAX_K + 1))], AUTO, "k", scale=2),
        _choice([(WORDS[f"sag.fan_out.{name}"], name) for name in FAN_OUTS], default.fan_out, "fan_out", scale=3),
        _choice([auto, *((str(n), str(n)) for n in BUDGETS)], AUTO, "budget", scale=2),
        gr.Slider(
            1, MOST_TOKENS, FIRST_TOKENS, step=1, label=WORDS["sag.max_tokens"], info=WORDS["compare.max_tokens_hint"],
            scale=2, min_width=150, elem_id="saguaro-max",
        ),
    )  # fmt: skip


def _more() -> tuple[Any, ...]:
    settings, default = Settings(), SaguaroOptions()
    with gr.Row(elem_classes="saguaro-controls"):
        temperature = gr.Slider(
            0, MAX_TEMPERATURE, settings.temperature, step=0.05, label=WORDS["set.temperature"],
            info=WORDS["set.temperature_hint"], min_width=150, elem_id="saguaro-temperature",
        )  # fmt: skip
        seed = gr.Number(settings.seed, precision=0, label=WORDS["set.seed"], info=WORDS["set.seed_hint"], min_width=90)
        bend = _choice([(WORDS[f"sag.bend.{name}"], name) for name in BENDS_OFFERED], default.bend, "bend")
        c = gr.Slider(
            0, 1, default.c, step=0.05, label=WORDS["sag.c"], info=WORDS["sag.c_hint"], min_width=130,
            elem_id="saguaro-c",
        )  # fmt: skip
    with gr.Row(elem_classes="saguaro-controls"):
        policies: list[tuple[str, str]] = [(WORDS[f"sag.fallback.policy.{name}"], name) for name in FALLBACK_POLICIES]
        fallback = _choice(policies, default.fallback, "fallback")
        nearest = gr.Checkbox(
            default.nearest, label=WORDS["sag.nearest"], info=WORDS["sag.nearest_hint"], min_width=150
        )
        roll_back = gr.Number(
            default.roll_back_after, precision=0, minimum=0, maximum=MAX_ROLL_BACK, label=WORDS["sag.roll_back"],
            info=WORDS["sag.roll_back_hint"], min_width=130, elem_id="saguaro-roll-back",
        )  # fmt: skip
        late = gr.Textbox(
            "", label=WORDS["sag.late"], info=WORDS["sag.late_hint"], min_width=130, elem_id="saguaro-late"
        )
    return temperature, seed, bend, c, fallback, nearest, roll_back, late


def _buttons() -> tuple[Any, ...]:
    return (
        gr.Button(WORDS["sag.run"], variant="primary", size="sm", min_width=90, elem_id="saguaro-run"),
        gr.Button(
            WORDS["sag.stop"], variant="stop", size="sm", min_width=70, interactive=False, elem_id="saguaro-stop"
        ),
        gr.Button(WORDS["sag.save"], size="sm", min_width=110, interactive=False, elem_id="saguaro-save"),
        gr.UploadButton(
            WORDS["sag.load"], size="sm", min_width=110, file_types=[".json", ".trace"], file_count="multiple",
            elem_id="saguaro-load",
        ),
    )  # fmt: skip
