"""Where things stand in the Datastore tab. What they do is in `datastore_tab.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr

from sssd_demo import store_names
from sssd_demo.sssd.growth import WINDOW
from sssd_demo.sssd.merging import Limits
from sssd_demo.ui.components import notice, store_growth, store_lookup, store_map
from sssd_demo.ui.controls import stop_button
from sssd_demo.ui.datastore_experiments import Experiment
from sssd_demo.ui.datastore_fill import MOST_MEGABYTES
from sssd_demo.ui.datastore_lookup import LOOKED_UP, nothing
from sssd_demo.ui.datastore_map import map_value
from sssd_demo.ui.growth_run import S_Q
from sssd_demo.ui.words import WORDS

ROOMS = {"small": Limits(max_tokens=1000, max_sub_indices=4), "large": Limits(max_tokens=8000, max_sub_indices=8)}
EXAMPLES = (" one of the", " in order to", "def __init__(self")
MINE, RUN, SHARED = "/mine", "/run", f"/{store_names.SHARED}"  # no file of a store can be called that


@dataclass(frozen=True)
class DatastoreLayout:
    """The components that handlers read or change."""

    play: gr.Button
    pause: gr.Button
    again: gr.Button
    room: gr.Dropdown
    growth_notice: gr.HTML
    growth: gr.HTML
    query: gr.Textbox
    store: gr.Dropdown
    look: gr.Button
    from_chat: gr.Button
    examples: tuple[gr.Button, ...]  # one for each of `EXAMPLES`
    lookup: gr.HTML
    text: gr.Textbox
    add: gr.Button
    files: gr.UploadButton
    stdlib: gr.Button
    cancel: gr.Button
    clear: gr.Button
    fill_notice: gr.HTML
    mine: gr.HTML


def build(idle: dict[str, Any], results: list[Experiment]) -> DatastoreLayout:
    """Lay the tab out inside the current block; `idle` is the growth view before anything has run."""
    with gr.Column(elem_id="store-tab", elem_classes="tab-page"):
        gr.Markdown(WORDS["store.lead"], elem_id="store-lead", elem_classes="tab-lead")
        growth = _growth(idle)
        lookup = _lookup()
        fill = _fill()
        _experiments(results)
    return DatastoreLayout(*growth, *lookup, *fill)


def store_choices(names: list[str], *, shared: bool) -> list[tuple[str, str]]:
    """Stores that can be looked into: the visitor's own, the one grown on this page, the others by name."""
    choices = [(WORDS["store.look.run"], RUN), (WORDS["store.look.mine"], MINE), *((name, name) for name in names)]
    return [*choices, (WORDS["store.look.shared"], SHARED)] if shared else choices


def _growth(idle: dict[str, Any]) -> tuple[Any, ...]:
    with gr.Column(elem_id="store-grow", elem_classes="tab-section"):
        gr.Markdown(f"### {WORDS['store.grow.title']}\n{WORDS['store.grow.hint']}")
        with gr.Row(elem_id="grow-controls"):
            play = gr.Button(WORDS["store.grow.play"], variant="primary", size="sm", min_width=90, elem_id="grow-play")
            pause = gr.Button(
                WORDS["store.grow.pause"], size="sm", min_width=80, interactive=False, elem_id="grow-pause"
            )
            again = gr.Button(
                WORDS["store.grow.again"], size="sm", min_width=90, interactive=False, elem_id="grow-again"
            )
            room = gr.Dropdown(
                [(WORDS[f"store.grow.room_{name}"], name) for name in ROOMS],
                value="small",
                label=WORDS["store.grow.room"],
                min_width=200,
                elem_id="grow-room",
            )
        said = notice(elem_id="grow-notice")
        growth = store_growth(idle, elem_id="grow")
        gr.Markdown(WORDS["store.fine"].format(s_q=S_Q, window=WINDOW), elem_classes="fine-print")
    return play, pause, again, room, said, growth


def _lookup() -> tuple[Any, ...]:
    with gr.Column(elem_id="store-look", elem_classes="tab-section"):
        gr.Markdown(f"### {WORDS['store.look.title']}\n{WORDS['store.look.hint'].format(most=LOOKED_UP)}")
        with gr.Row(elem_id="look-controls"):
            query = gr.Textbox(
                label=WORDS["store.look.text"],
                placeholder=WORDS["store.look.placeholder"],
                lines=1,
                max_lines=1,
                scale=5,
                min_width=200,
                elem_id="look-text",
            )
            store = gr.Dropdown(
                store_choices([], shared=False),
                value=RUN,
                label=WORDS["store.look.store"],
                allow_custom_value=True,  # what there is, is known once the model is loaded
                scale=2,
                min_width=170,
                elem_id="look-store",
            )
            look = gr.Button(WORDS["store.look.go"], variant="primary", size="sm", min_width=90, elem_id="look-go")
            from_chat = gr.Button(WORDS["store.look.chat"], size="sm", min_width=130, elem_id="look-chat")
        with gr.Row(elem_id="look-examples"):
            examples = tuple(gr.Button(text, size="sm", min_width=60) for text in EXAMPLES)
        lookup = store_lookup(nothing(), elem_id="look")
    return query, store, look, from_chat, examples, lookup


def _fill() -> tuple[Any, ...]:
    with gr.Column(elem_id="store-fill", elem_classes="tab-section"):
        gr.Markdown(f"### {WORDS['store.fill.title']}\n{WORDS['store.fill.where']}")
        text = gr.Textbox(
            label=WORDS["store.fill.text"],
            show_label=False,
            container=False,
            placeholder=WORDS["store.fill.placeholder"],
            lines=3,
            max_lines=8,
            elem_id="fill-text",
        )
        with gr.Row(elem_id="fill-controls"):
            add = gr.Button(WORDS["store.fill.add"], variant="primary", size="sm", min_width=110, elem_id="fill-add")
            files = gr.UploadButton(
                WORDS["store.fill.files"], file_count="multiple", size="sm", min_width=90, elem_id="fill-files"
            )
            stdlib = gr.Button(WORDS["store.fill.stdlib"], size="sm", min_width=170, elem_id="fill-stdlib")
            cancel = stop_button("store.fill.cancel", "fill-cancel", min_width=80)
            clear = gr.Button(WORDS["store.fill.clear"], size="sm", min_width=110, elem_id="fill-clear")
        gr.Markdown(WORDS["store.fill.files_hint"].format(mb=MOST_MEGABYTES), elem_classes="fine-print")
        said = notice(elem_id="fill-notice")
        mine = store_map(map_value(None), elem_id="mine")
    return text, add, files, stdlib, cancel, clear, said, mine


def _experiments(results: list[Experiment]) -> None:
    if not results:
        return
    with gr.Column(elem_id="store-lab", elem_classes="tab-section"):
        gr.Markdown(f"### {WORDS['store.lab.title']}")
        with gr.Row(elem_id="lab-grid"):
            for result in results:
                with gr.Column(min_width=330, elem_classes="lab-card"):
                    gr.Markdown(f"**{result.title}**")
                    gr.Plot(result.figure, show_label=False, container=False)
                    gr.Markdown(result.verdict)
                    gr.Markdown(result.made, elem_classes="fine-print")
