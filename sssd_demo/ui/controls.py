"""Controls that several tabs have. What is typed into them is read by `settings_panel.py` and `field_values.py`.

A choice takes values too that it does not list: what a model offers is known only once it is loaded, any length can be
typed, and what makes no sense is refused in a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import gradio as gr

from sssd_demo.request import MAX_K, MAX_S_Q, RULES
from sssd_demo.sampling import MAX_TEMPERATURE
from sssd_demo.service import Settings
from sssd_demo.ui.words import WORDS

AUTO = "auto"
NO_STORE = "none"
S_Q_CHOICES = (1, 2, 4, 8, 12, 16, 24, 32, 48, MAX_S_Q)

Choices = list[tuple[str, str]]  # what is read and what it stands for


def labels(key: str) -> dict[str, Any]:
    """Label and hint of a control, for its constructor."""
    return {"label": WORDS[key], "info": WORDS[f"{key}_hint"]}


def auto_or(numbers: Iterable[int]) -> Choices:
    """Auto, or one of the `numbers`."""
    return [(WORDS["set.s_q.auto"], AUTO), *((str(n), str(n)) for n in numbers)]


def s_q_choices() -> Choices:
    """How many tokens go into a forward: by a rule, or so many."""
    return [*((WORDS[f"set.s_q.{rule}"], rule) for rule in RULES), *((str(n), str(n)) for n in S_Q_CHOICES)]


def k_choices() -> Choices:
    """How many guesses a draft model makes in a row."""
    return auto_or(range(1, MAX_K + 1))


def store_choices(names: Sequence[str] = ()) -> Choices:
    """No datastore, or one of those that are there."""
    return [(WORDS["set.store_none"], NO_STORE), *((name, name) for name in names)]


def choice(choices: Choices, value: Any, **settings: Any) -> gr.Dropdown:
    """A choice of one value, or with `multiselect` of several."""
    return gr.Dropdown(choices, value=value, allow_custom_value=True, **settings)


def temperature(**settings: Any) -> gr.Slider:
    """Of an answer."""
    return gr.Slider(0, MAX_TEMPERATURE, Settings.temperature, step=0.05, **labels("set.temperature"), **settings)


def top_p(**settings: Any) -> gr.Slider:
    return gr.Slider(0.05, 1, Settings.top_p, step=0.01, **labels("set.top_p"), **settings)


def top_k() -> gr.Number:
    return gr.Number(Settings.top_k, precision=0, min_width=90, **labels("set.top_k"))


def seed() -> gr.Number:
    return gr.Number(Settings.seed, precision=0, min_width=90, **labels("set.seed"))


def draft_temperature(**settings: Any) -> gr.Textbox:
    """Of a draft model's guesses; a text, since a number's box cannot be blank."""
    return gr.Textbox("", **labels("set.draft_temperature"), **settings)


def question(text: str, key: str, elem_id: str) -> gr.Textbox:
    """What is asked for a measurement."""
    return gr.Textbox(
        text,
        label=WORDS[key],
        placeholder=WORDS[f"{key}_hint"],
        lines=1,
        max_lines=6,
        elem_id=elem_id,
    )


def stop_button(key: str, elem_id: str, min_width: int = 70) -> gr.Button:
    """Ends what runs; nothing does at first."""
    return gr.Button(WORDS[key], variant="stop", size="sm", min_width=min_width, interactive=False, elem_id=elem_id)
