"""Where things stand in the Compare tab. What they do is in `compare_tab.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr

from sssd_demo.bench import BASELINE
from sssd_demo.compare.plan import MOST_QUESTIONS, MOST_REPEATS, YARDSTICK, Lane
from sssd_demo.request import ACCEPTANCE_RULES, MAX_K, RULES
from sssd_demo.sampling import MAX_TEMPERATURE
from sssd_demo.service import Settings
from sssd_demo.speculators.registry import WITH_DRAFT_MODEL
from sssd_demo.ui.compare_lanes import nothing_yet
from sssd_demo.ui.components import compare_lanes, compare_results, notice
from sssd_demo.ui.settings_panel import AUTO, LONGEST_ANSWER, NO_STORE, S_Q_CHOICES
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


def lane_choices(methods: list[str]) -> list[tuple[str, str]]:
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
    at_first = [BASELINE, "sssd"]
    with gr.Column(elem_id="compare-tab"):
        gr.Markdown(WORDS["compare.lead"], elem_id="compare-lead")
        with gr.Column(elem_id="compare-ask", elem_classes="compare-section"):
            prompt = gr.Textbox(
                WORDS["example.sentence.text"],
                label=WORDS["compare.prompt"],
                placeholder=WORDS["compare.prompt_hint"],
                lines=1,
                max_lines=6,
                elem_id="compare-prompt",
            )
            with gr.Row(elem_id="compare-examples"):
                examples = tuple(gr.Button(WORDS[f"example.{key}.title"], size="sm", min_width=90) for key in EXAMPLES)
            lanes = gr.CheckboxGroup(
                lane_choices(at_first),
                value=at_first,
                label=WORDS["compare.lanes"],
                info=WORDS["compare.lanes_hint"],
                elem_id="compare-lanes",
            )
            with gr.Row(elem_id="compare-settings"):
                s_q, store, max_tokens, repeats = _first_row()
            with gr.Accordion(WORDS["compare.more"], open=False, elem_id="compare-more"):
                temperature, top_k, top_p, seed, k, draft_temperature, file, file_told, file_drop = _more()
            with gr.Row(elem_id="compare-buttons"):
                run = gr.Button(WORDS["compare.run"], variant="primary", size="sm", min_width=90, elem_id="compare-run")
                stop = gr.Button(
                    WORDS["compare.stop"], variant="stop", size="sm", min_width=70, interactive=False,
                    elem_id="compare-stop",
                )  # fmt: skip
                save_table, save_all = (
                    gr.Button(
                        WORDS[f"compare.{name}"], size="sm", min_width=120, interactive=False,
                        elem_id=f"compare-{name.replace('_', '-')}",
                    )
                    for name in ("save_table", "save_all")
                )  # fmt: skip
                load = gr.UploadButton(
                    WORDS["compare.load"], size="sm", min_width=120, file_types=[".zip"], elem_id="compare-load"
                )
        said = notice(elem_id="compare-notice")
        shown = gr.Dropdown(
            [], label=WORDS["compare.shown"], visible=False, allow_custom_value=True, elem_id="compare-shown"
        )
        race = compare_lanes(nothing_yet(), elem_id="compare-race")
        results = compare_results(None, elem_id="compare-results")
    return CompareLayout(
        prompt=prompt,
        examples=examples,
        lanes=lanes,
        s_q=s_q,
        store=store,
        max_tokens=max_tokens,
        repeats=repeats,
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        seed=seed,
        k=k,
        draft_temperature=draft_temperature,
        file=file,
        file_told=file_told,
        file_drop=file_drop,
        run=run,
        stop=stop,
        save_table=save_table,
        save_all=save_all,
        load=load,
        notice=said,
        shown=shown,
        race=race,
        results=results,
        saved=gr.Textbox(visible=False),
    )


def _first_row() -> tuple[gr.Dropdown, gr.Dropdown, gr.Slider, gr.Slider]:
    lengths = [*((WORDS[f"set.s_q.{rule}"], rule) for rule in RULES), *((str(n), str(n)) for n in S_Q_CHOICES)]
    return (
        _several(lengths, "s_q", scale=4),
        gr.Dropdown(
            [(WORDS["set.store_none"], NO_STORE)],
            value=NO_STORE,
            label=WORDS["compare.store"],
            scale=2,
            min_width=120,
            allow_custom_value=True,  # what there is, is known once the model is loaded
            elem_id="compare-store",
        ),
        gr.Slider(
            1, LONGEST_ANSWER, LONGEST_AT_FIRST, step=1, label=WORDS["compare.max_tokens"],
            info=WORDS["compare.max_tokens_hint"], scale=3, min_width=150, elem_id="compare-max",
        ),
        gr.Slider(
            1, MOST_REPEATS, 1, step=1, label=WORDS["compare.repeats"], info=WORDS["compare.repeats_hint"], scale=3,
            min_width=150, elem_id="compare-repeats",
        ),
    )  # fmt: skip


def _several(choices: list[tuple[str, str]], name: str, **settings: Any) -> gr.Dropdown:
    """A choice of one value or several."""
    return gr.Dropdown(
        choices,
        value=[AUTO],
        multiselect=True,
        label=WORDS[f"compare.{name}"],
        info=WORDS[f"compare.{name}_hint"],
        min_width=150,
        allow_custom_value=True,
        elem_id=f"compare-{name.replace('_', '-')}",
        **settings,
    )


def _more() -> tuple[Any, ...]:
    default = Settings()
    with gr.Row():
        temperature = gr.Slider(
            0,
            MAX_TEMPERATURE,
            default.temperature,
            step=0.05,
            label=WORDS["set.temperature"],
            info=WORDS["set.temperature_hint"],
            min_width=150,
        )
        top_p = gr.Slider(
            0.05, 1, default.top_p, step=0.01, label=WORDS["set.top_p"], info=WORDS["set.top_p_hint"], min_width=150
        )
        top_k = gr.Number(
            default.top_k, precision=0, label=WORDS["set.top_k"], info=WORDS["set.top_k_hint"], min_width=90
        )
        seed = gr.Number(default.seed, precision=0, label=WORDS["set.seed"], info=WORDS["set.seed_hint"], min_width=90)
    with gr.Row():
        k = _several([(WORDS["set.s_q.auto"], AUTO), *((str(n), str(n)) for n in range(1, MAX_K + 1))], "k")
        draft_temperature = gr.Textbox(
            "", label=WORDS["set.draft_temperature"], info=WORDS["set.draft_temperature_hint"], min_width=150
        )
    with gr.Row(elem_id="compare-file-row"):
        file = gr.UploadButton(
            WORDS["compare.file"], size="sm", min_width=150, file_types=[".jsonl", ".json"], elem_id="compare-file"
        )
        drop = gr.Button(
            WORDS["compare.file_drop"], size="sm", min_width=150, interactive=False, elem_id="compare-file-drop"
        )
    told = gr.Markdown(WORDS["compare.file_none"], elem_id="compare-file-told")
    gr.Markdown(WORDS["compare.file_hint"].format(most=MOST_QUESTIONS), elem_classes="store-fine")
    return temperature, top_k, top_p, seed, k, draft_temperature, file, told, drop
