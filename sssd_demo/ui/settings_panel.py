"""The controls for one answer in the Chat tab, and what they, and those of other tabs, turn into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import gradio as gr

from sssd_demo.errors import UserError
from sssd_demo.request import ACCEPTANCE_RULES, RULES, Drafting, Length
from sssd_demo.service import Service, Settings
from sssd_demo.speculators.needs import WITH_DRAFT_MODEL
from sssd_demo.trace import AcceptanceRule
from sssd_demo.ui import controls
from sssd_demo.ui.controls import AUTO, NO_STORE, Choices, choice, k_choices, s_q_choices, store_choices
from sssd_demo.ui.datastore_map import tokens_text
from sssd_demo.ui.field_values import real, real_or_blank, whole
from sssd_demo.ui.words import WORDS

LONGEST_ANSWER = 1024  # tokens; what one visitor may ask of a shared machine
BASE_STORE = "base"  # the one that comes with the app


@dataclass(frozen=True)
class SettingsPanel:
    """The controls, in the order in which `settings_from` takes their values."""

    method: gr.Dropdown
    s_q: gr.Dropdown
    store: gr.Dropdown
    temperature: gr.Slider
    top_k: gr.Number
    top_p: gr.Slider
    max_tokens: gr.Slider
    seed: gr.Number
    share: gr.Checkbox
    k: gr.Dropdown
    rule: gr.Dropdown
    draft_temperature: gr.Textbox  # a number's box cannot be blank

    def controls(self) -> list[gr.Component]:
        return [getattr(self, name) for name in self.__dataclass_fields__]


def first_row() -> tuple[gr.Dropdown, gr.Dropdown, gr.Dropdown]:
    """Method, length and store: what a visitor changes to compare."""
    return (
        _choice([(Settings.method, Settings.method)], Settings.method, "set.method", 3),
        _choice(s_q_choices(), AUTO, "set.s_q", 4),
        _choice(store_choices(), NO_STORE, "set.store", 3),
    )


def draft_choices() -> tuple[gr.Dropdown, gr.Dropdown]:
    """Draft length and acceptance rule, in the place of length and store while a draft model is what guesses."""
    return (
        _choice(k_choices(), AUTO, "set.k", 4, visible=False),
        _choice([(rule, rule) for rule in ACCEPTANCE_RULES], Drafting.rule, "set.rule", 3, visible=False),
    )


def _choice(choices: Choices, value: str, key: str, scale: int, visible: bool = True) -> gr.Dropdown:
    return choice(choices, value, label=WORDS[key], scale=scale, min_width=80, visible=visible)


def drafts_with_a_model(method: str | None) -> bool:
    """Whether the controls of a draft model are those that matter."""
    return method in WITH_DRAFT_MODEL


def for_method(method: str | None) -> list[Any]:
    """Updates of s_q, store, K, rule, hint and draft temperature to what `method` goes by.

    What is not seen does not bind either: the length goes back to auto.
    """
    model = drafts_with_a_model(method)
    s_q = gr.update(visible=False, value=AUTO) if model else gr.update(visible=True)
    return [s_q, gr.update(visible=not model), *(gr.update(visible=model) for _ in range(4))]


def more() -> tuple[gr.Slider, gr.Number, gr.Slider, gr.Slider, gr.Number, gr.Textbox]:
    """Temperature, top-k, top-p, length, seed, and the temperature of a draft model."""
    with gr.Row():
        temperature = controls.temperature(min_width=140)
        top_p = controls.top_p(min_width=140)
    with gr.Row():
        top_k, seed = controls.top_k(), controls.seed()
    draft_temperature = controls.draft_temperature(visible=False, elem_id="draft-temperature")
    max_tokens = gr.Slider(1, LONGEST_ANSWER, Settings.max_new_tokens, step=1, label=WORDS["set.max_tokens"])
    return temperature, top_k, top_p, max_tokens, seed, draft_temperature


def text_controls() -> tuple[gr.Checkbox, gr.Checkbox]:
    """Where the visitor's text goes: to this page's own store, to the store of all visitors."""
    return (
        gr.Checkbox(True, label=WORDS["text.remember"], info=WORDS["text.remember_hint"], elem_id="remember"),
        gr.Checkbox(False, label=WORDS["text.share"], info=WORDS["text.share_hint"], elem_id="share"),
    )


def own_store_text(tokens: int) -> str:
    """What stands beside the choice of a datastore while the page's own one, of so many `tokens`, is used too."""
    return WORDS["set.own_store"].format(tokens=tokens_text(tokens))


def text_title(remember: bool, share: bool) -> str:
    """In a few words what `text_controls` are set to."""
    kept, shared = "kept" if remember else "not_kept", "shared" if share else "not_shared"
    return WORDS[f"text.title.{kept}.{shared}"]


def settings_from(
    method: str | None = None,
    s_q: str | int | None = AUTO,
    store: str | None = NO_STORE,
    temperature: float = Settings.temperature,
    top_k: float = Settings.top_k,
    top_p: float = Settings.top_p,
    max_tokens: float = Settings.max_new_tokens,
    seed: float = Settings.seed,
    share: bool = Settings.share,
    k: str | int | None = AUTO,
    rule: str | None = Settings.rule,
    draft_temperature: str | float | None = None,
) -> Settings:
    """Values of controls, or of anybody who calls the API, as settings. Raises `UserError` naming the wrong one."""
    longest = whole(max_tokens, WORDS["set.max_tokens"])
    if longest > LONGEST_ANSWER:
        raise UserError(WORDS["refuse.too_long"].format(longest=LONGEST_ANSWER, asked=longest))
    return Settings(
        method=method or Settings.method,
        s_q=_length(s_q),
        datastore=None if store in (NO_STORE, None) else str(store),
        temperature=real(temperature, WORDS["set.temperature"]),
        top_k=whole(top_k, WORDS["set.top_k"]),
        top_p=real(top_p, WORDS["set.top_p"]),
        max_new_tokens=longest,
        seed=whole(seed, WORDS["set.seed"]),
        share=bool(share),
        k="auto" if k in (AUTO, None) else whole(k, WORDS["set.k"]),
        rule=cast(AcceptanceRule, rule or Settings.rule),  # one that is not known is refused in a sentence
        draft_temperature=real_or_blank(draft_temperature, WORDS["set.draft_temperature"]),
    )


def choices(service: Service) -> tuple[Any, Any]:
    """Updates of the method and store controls to what the loaded model offers."""
    methods, stores = service.methods(), service.store_names()
    return gr.update(choices=methods), gr.update(choices=store_choices(stores), value=_first_store(service, stores))


def _first_store(service: Service, stores: list[str]) -> str:
    """The base store where it is there and made for this model, else none."""
    try:
        if BASE_STORE in stores:
            service.stores.open(BASE_STORE)
            return BASE_STORE
    except UserError:
        pass  # for another tokenizer: the visitor who chooses it is told so
    return NO_STORE


def _length(value: str | int | None) -> Length:
    for rule in RULES:
        if value in (rule, None):
            return rule
    return whole(value, WORDS["set.s_q"])
