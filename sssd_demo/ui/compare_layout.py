"""Where things stand in the Compare tab. What they do is in `compare_tab.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr

from sssd_demo.bench import BASELINE
from sssd_demo.compare.plan import MOST_QUESTIONS, MOST_REPEATS, YARDSTICK, Lane
from sssd_demo.request import ACCEPTANCE_RULES
from sssd_demo.speculators.needs import WITH_DRAFT_MODEL
from sssd_demo.ui import controls
from sssd_demo.ui.compare_lanes import nothing_yet
from sssd_demo.ui.components import compare_lanes, compare_results, notice
from sssd_demo.ui.controls import AUTO, NO_STORE, Choices, labels
from sssd_demo.ui.settings_panel import LONGEST_ANSWER
from sssd_demo.ui.words import WORDS

EXAMPLES = ("sentence", "code", "loses")
LONGEST_AT_FIRST = 96  # tokens
_RULE = "/"  # between a method and a rule; no method's name has one


@dataclass(frozen=True)
class CompareLayout:
    """The components that handlers read or change."""

    prompt: gr.Textbox
    examples: tuple[gr.Button, ...]  # one for each of `EXAMPLES`
    lanes: gr.CheckboxGroup
    s_q: gr.Dropdown
    store: gr.Dropdown
    max_tokens: gr.Slider
    repeats: gr.Slider
    temperature: gr.Slider
    top_k: gr.Number
    top_p: gr.Slider
    seed: gr.Number
    k: gr.Dropdown
    draft_temperature: gr.Textbox
    file: gr.UploadButton
    file_told: gr.Markdown
    file_drop: gr.Button
    run: gr.Button
    stop: gr.Button
    save_table: gr.Button
    save_all: gr.Button
    load: gr.UploadButton
    notice: gr.HTML
    shown: gr.Dropdown
    race: gr.HTML
    results: gr.HTML
    saved: gr.Textbox  # never seen: carries a file to the browser, which saves it

    def settings(self) -> list[gr.Component]:
        """What a comparison is begun from, in the order in which `compare_events.py` takes it."""
        names = (
            *("prompt", "lanes", "s_q", "k", "store", "max_tokens", "repeats", "temperature", "top_k", "top_p"),
            *("seed", "draft_temperature"),
        )
        return [getattr(self, name) for name in names]


def lane_choices(methods: list[str]) -> Choices:
    """(label, value) of what can be ticked: every method, those with a draft model once for each acceptance rule."""
    choices = []
    for method in methods:
        if method in WITH_DRAFT_MODEL:
            lanes = [Lane(method, rule=rule) for rule in ACCEPTANCE_RULES]
            choices += [(lane.name, f"{method}{_RULE}{lane.rule}") for lane in lanes]
        else:
            choices.append((method, method))
    return choices


def first_lanes(methods: list[str]) -> list[str]:
    """What is ticked at first: the yardstick, SSSD, and a draft model's chain where there is one."""
    values = [value for _, value in lane_choices(methods)]
    return [value for value in (BASELINE, "sssd", f"speculative{_RULE}chain") if value in values]


def offered_lanes(methods: list[str], ticked: list[str]) -> Any:
    """The update that lists what a loaded model offers."""
    hint = "compare.lanes_hint_draft" if set(methods) & set(WITH_DRAFT_MODEL) else "compare.lanes_hint_none"
    return gr.update(choices=lane_choices(methods), value=ticked, info=WORDS[hint])


def method_and_rule(value: str) -> tuple[str, str]:
    """What a ticked value stands for; whether there is such a rule is for others to say."""
    method, _, rule = value.partition(_RULE)
    return method, rule or YARDSTICK.rule


def build() -> CompareLayout:
    """Lay the tab out inside the current block."""
    with gr.Column(elem_id="compare-tab"):
        gr.Markdown(WORDS["compare.lead"], elem_id="compare-lead")
        with gr.Column(elem_id="compare-ask", elem_classes="compare-section"):
            question = _question()
            with gr.Row(elem_id="compare-settings"):
                first = _first_row()
            with gr.Accordion(WORDS["compare.more"], open=False, elem_id="compare-more", elem_classes="fold"):
                more = [*_more(), *_question_file()]
            with gr.Row(elem_id="compare-buttons"):
                buttons = _buttons()
        said = notice(elem_id="compare-notice")
        shown = controls.choice([], None, label=WORDS["compare.shown"], visible=False, elem_id="compare-shown")
        race = compare_lanes(nothing_yet(), elem_id="compare-race")
        results = compare_results(None, elem_id="compare-results")
    saved = gr.Textbox(visible=False)
    parts: list[Any] = [*question, *first, *more, *buttons, said, shown, race, results, saved]
    return CompareLayout(*parts)


def _question() -> tuple[Any, ...]:
    """What is asked, and of which methods."""
    at_first = [BASELINE, "sssd"]
    prompt = controls.question(WORDS["example.sentence.text"], "compare.prompt", "compare-prompt")
    with gr.Row(elem_id="compare-examples"):
        examples = tuple(gr.Button(WORDS[f"example.{key}.title"], size="sm", min_width=90) for key in EXAMPLES)
    lanes = gr.CheckboxGroup(lane_choices(at_first), value=at_first, elem_id="compare-lanes", **labels("compare.lanes"))
    return prompt, examples, lanes


def _first_row() -> tuple[Any, ...]:
    return (
        _several(controls.s_q_choices(), "s_q", scale=4),
        controls.choice(
            controls.store_choices(), NO_STORE, label=WORDS["compare.store"], scale=2, min_width=120,
            elem_id="compare-store",
        ),
        gr.Slider(
            1, LONGEST_ANSWER, LONGEST_AT_FIRST, step=1, scale=3, min_width=150, elem_id="compare-max",
            **labels("set.answer_tokens"),
        ),
        gr.Slider(
            1, MOST_REPEATS, 1, step=1, scale=3, min_width=150, elem_id="compare-repeats", **labels("compare.repeats")
        ),
    )  # fmt: skip


def _several(choices: Choices, name: str, **settings: Any) -> gr.Dropdown:
    """A choice of one value or several."""
    elem_id = f"compare-{name.replace('_', '-')}"
    return controls.choice(
        choices,
        [AUTO],
        multiselect=True,
        min_width=150,
        elem_id=elem_id,
        **labels(f"compare.{name}"),
        **settings,
    )


def _more() -> tuple[Any, ...]:
    with gr.Row():
        temperature, top_p = controls.temperature(min_width=150), controls.top_p(min_width=150)
        top_k, seed = controls.top_k(), controls.seed()
    with gr.Row():
        k, draft_temperature = _several(controls.k_choices(), "k"), controls.draft_temperature(min_width=150)
    return temperature, top_k, top_p, seed, k, draft_temperature


def _question_file() -> tuple[Any, ...]:
    with gr.Row(elem_id="compare-file-row"):
        file = gr.UploadButton(
            WORDS["compare.file"], size="sm", min_width=150, file_types=[".jsonl", ".json"], elem_id="compare-file"
        )
        drop = gr.Button(
            WORDS["compare.file_drop"], size="sm", min_width=150, interactive=False, elem_id="compare-file-drop"
        )
    told = gr.Markdown(WORDS["compare.file_none"], elem_id="compare-file-told")
    gr.Markdown(WORDS["compare.file_hint"].format(most=MOST_QUESTIONS))
    return file, told, drop


def _buttons() -> tuple[Any, ...]:
    run = gr.Button(WORDS["compare.run"], variant="primary", size="sm", min_width=90, elem_id="compare-run")
    stop = controls.stop_button("compare.stop", "compare-stop")
    save_table, save_all = (
        gr.Button(
            WORDS[f"compare.{name}"], size="sm", min_width=120, interactive=False,
            elem_id=f"compare-{name.replace('_', '-')}",
        )
        for name in ("save_table", "save_all")
    )  # fmt: skip
    load = gr.UploadButton(WORDS["compare.load"], size="sm", min_width=120, file_types=[".zip"], elem_id="compare-load")
    return run, stop, save_table, save_all, load
