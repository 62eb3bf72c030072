"""Our own pictures inside Gradio: a static frame, data only in `value`, everything drawn by scripts in `static/`.

Gradio's HTML component evaluates its template, and whatever stands in it, as a program. So the template here is a
constant and no text of a model or a visitor ever gets near it: the scripts put text into the page as text.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gradio as gr

from sssd_demo.ui.words import browser_words

STATIC = Path(__file__).parents[2] / "static"
STYLES = ("app.css", "datastore.css", "compare.css", "roofline.css", "saguaro.css")
SCRIPTS = (
    "dom.js",
    "tables.js",
    "answer_model.js",
    "source_match.js",
    "token_stream.js",
    "round_strip.js",
    "draft_tree.js",
    "verification_steps.js",
    "verification_view.js",
    "answer_view.js",
    "figures.js",
    "header.js",
    "notice.js",
    "store_map.js",
    "store_chart.js",
    "store_growth.js",
    "store_trie.js",
    "store_lookup.js",
    "compare_track.js",
    "compare_lanes.js",
    "compare_results.js",
    "roofline_chart.js",
    "roofline_view.js",
    "saguaro_timeline.js",
    "saguaro_cache.js",
    "saguaro_view.js",
    "saguaro_figures.js",
    "page.js",
)


def script_head() -> str:
    """All scripts and the words they use as one tag for the page's head: there before any component is drawn."""
    words = f"window.sssdDemo = {{ words: {json.dumps(browser_words())} }};"
    code = "\n".join([words, *((STATIC / name).read_text(encoding="utf-8") for name in SCRIPTS)])
    return f"<script>\n{code}\n</script>"


def answer_view(value: Any = None, **settings: Any) -> gr.HTML:
    """Tokens, rounds and draft trees of one answer; see `answer_payload.py` for its value."""
    return _drawn_by("answerView", value, **settings)


def figures_strip(value: Any = None, **settings: Any) -> gr.HTML:
    """Speeds, counts and one sentence about an answer; see `figures.py` for its value."""
    return _drawn_by("figures", value, **settings)


def header(value: Any = None, **settings: Any) -> gr.HTML:
    """Name and state of the model: {"state": "loading" | "ready" | "busy" | "failed", "text", "about", "fraction"}."""
    return _drawn_by("header", value, **settings)


def notice(value: str = "", **settings: Any) -> gr.HTML:
    """One line of text, or nothing."""
    return _drawn_by("notice", value, **settings)


def store_growth(value: Any = None, **settings: Any) -> gr.HTML:
    """A store that fills: figures, curve, map, events; see `growth_value.py` for its value."""
    return _drawn_by("storeGrowth", value, **settings)


def store_lookup(value: Any = None, **settings: Any) -> gr.HTML:
    """What a store knows about a few words; see `datastore_lookup.py` for its value."""
    return _drawn_by("storeLookup", value, **settings)


def store_map(value: Any = None, **settings: Any) -> gr.HTML:
    """What a store is made of; see `datastore_map.py` for its value."""
    return _drawn_by("storeMap", value, **settings)


def compare_lanes(value: Any = None, **settings: Any) -> gr.HTML:
    """Methods side by side and their race; see `compare_lanes.py` for its value."""
    return _drawn_by("compareLanes", value, **settings)


def compare_results(value: Any = None, **settings: Any) -> gr.HTML:
    """Table, pictures and sentences of a comparison; see `compare_results.py` for its value."""
    return _drawn_by("compareResults", value, **settings)


def roofline_view(value: Any = None, **settings: Any) -> gr.HTML:
    """A part of the Roofline tab; see `roofline_plan.py` and `roofline_run.py` for its value."""
    return _drawn_by("rooflineView", value, **settings)


def saguaro_view(value: Any = None, **settings: Any) -> gr.HTML:
    """Timelines of drafter and target, and the cache of a round; see `saguaro_picture.py` for its value."""
    return _drawn_by("saguaroView", value, **settings)


def saguaro_figures(value: Any = None, **settings: Any) -> gr.HTML:
    """Bars and curves about a speculation cache; see `saguaro_figures.py` for its value."""
    return _drawn_by("saguaroFigures", value, **settings)


def _drawn_by(drawer: str, value: Any, elem_classes: str = "", **settings: Any) -> gr.HTML:
    # Functions and not subclasses: for each subclass Gradio would write a stub file beside this one.
    return gr.HTML(
        value,
        html_template="<div></div>",
        js_on_load=f"window.sssdDemo.{drawer}(element.firstElementChild, props, watch);",
        apply_default_css=False,
        elem_classes=f"drawn {elem_classes}".strip(),
        **settings,
    )
