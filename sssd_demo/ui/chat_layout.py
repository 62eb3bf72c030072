"""Where things stand in the Chat tab. What they do is in `chat_tab.py`."""

from __future__ import annotations

from dataclasses import dataclass

import gradio as gr

from sssd_demo.trace import Trace
from sssd_demo.ui.answer_payload import AnswerPayload
from sssd_demo.ui.components import answer_view, figures_strip, notice
from sssd_demo.ui.controls import stop_button
from sssd_demo.ui.figures import figures
from sssd_demo.ui.settings_panel import (
    SettingsPanel,
    draft_choices,
    first_row,
    more,
    own_store_text,
    text_controls,
    text_title,
)
from sssd_demo.ui.wiring import AT_ONCE
from sssd_demo.ui.words import WORDS

EXAMPLES = ("sentence", "paragraph", "code", "poem", "loses")


@dataclass(frozen=True)
class ChatLayout:
    """The components that handlers read or change."""

    figures: gr.HTML
    chatbot: gr.Chatbot
    notice: gr.HTML
    message: gr.Textbox
    send: gr.Button
    stop: gr.Button
    new: gr.Button
    undo: gr.Button
    export: gr.Button
    upload: gr.UploadButton
    answer: gr.HTML
    settings: SettingsPanel
    draft_hint: gr.Markdown  # what the acceptance rules are
    remember: gr.Checkbox
    text: gr.Accordion  # where the visitor's text goes; its title says so
    forget: gr.Button
    own_store: gr.Markdown  # says that the page's own store is drawn from too
    model: gr.Dropdown
    trace_text: gr.Textbox  # never seen: carries a trace to the browser, which saves it

    def page(self) -> list[gr.Component]:
        """The parts that handlers set, in the order in which `chat_events.py` gives their values."""
        return [
            self.chatbot, self.answer, self.figures, self.message, self.notice, self.send, self.stop, self.undo,
        ]  # fmt: skip

    def streamed(self) -> list[gr.Component]:
        """Those of them that change while an answer is written.

        Gradio builds a component anew for every update that has no plain value for it, so the others wait for the end.
        """
        return [self.chatbot, self.answer, self.figures, self.notice]


def build(recorded: Trace | None, models: list[str]) -> ChatLayout:
    """Lay the tab out inside the current block. `recorded` is shown until there is an answer.

    Without `models` to choose from there is no such choice on the page.
    """
    strip = figures_strip(figures(recorded, None, recorded=True) if recorded else None, elem_id="figures")
    with gr.Row(elem_id="chat-columns"):
        with gr.Column(scale=5, min_width=330, elem_id="chat-left"):
            chatbot = _conversation()
            said = notice(elem_id="notice")
            message, send, stop = _ask()
            _unfold()
            with gr.Column(elem_id="controls"):
                method, s_q, store, k, rule, draft_hint, own_store = _settings_row()
                new, undo, export, upload = _buttons()
                with gr.Accordion(WORDS["chat.settings"], open=False, elem_id="more-settings", elem_classes="fold"):
                    temperature, top_k, top_p, max_tokens, seed, draft_temperature = more()
                    model = _model_choice(models)
            text, remember, share, forget = _own_text()
        with gr.Column(scale=8, min_width=330, elem_id="chat-right"):
            shown = AnswerPayload(recorded, recorded=True).update(recorded) if recorded else None
            answer = answer_view(shown, elem_id="answer")
    settings = SettingsPanel(
        method, s_q, store, temperature, top_k, top_p, max_tokens, seed, share, k, rule, draft_temperature
    )
    return ChatLayout(
        figures=strip,
        chatbot=chatbot,
        notice=said,
        message=message,
        send=send,
        stop=stop,
        new=new,
        undo=undo,
        export=export,
        upload=upload,
        answer=answer,
        settings=settings,
        draft_hint=draft_hint,
        remember=remember,
        text=text,
        forget=forget,
        own_store=own_store,
        model=model,
        trace_text=gr.Textbox(visible=False),
    )


def _conversation() -> gr.Chatbot:
    return gr.Chatbot(
        label=WORDS["chat.conversation"],
        show_label=False,
        height=None,
        editable="user",
        buttons=[],
        latex_delimiters=[],  # a dollar sign is a dollar sign
        allow_tags=False,
        group_consecutive_messages=False,
        placeholder=WORDS["chat.empty"],
        examples=[
            {"text": WORDS[f"example.{key}.text"], "display_text": WORDS[f"example.{key}.title"]} for key in EXAMPLES
        ],
        elem_id="conversation",
    )


def _ask() -> tuple[gr.Textbox, gr.Button, gr.Button]:
    with gr.Row(elem_id="ask"):
        message = gr.Textbox(
            label=WORDS["chat.message"],
            show_label=False,
            container=False,
            placeholder=WORDS["chat.message_hint"],
            lines=1,
            max_lines=6,
            scale=6,
            min_width=160,
            elem_id="message",
        )
        send = gr.Button(WORDS["chat.send"], variant="primary", size="sm", min_width=70, elem_id="send")
        stop = stop_button("chat.stop", "stop")
    return message, send, stop


def _unfold() -> None:
    """On a narrow screen all below this button is folded until it is pressed; elsewhere it is not seen."""
    unfold = gr.Button(WORDS["chat.unfold"], size="sm", elem_id="unfold-settings")
    unfold.click(None, js="() => window.sssdDemo.unfoldSettings()", **AT_ONCE)


def _settings_row() -> tuple[gr.Dropdown, gr.Dropdown, gr.Dropdown, gr.Dropdown, gr.Dropdown, gr.Markdown, gr.Markdown]:
    with gr.Row(elem_id="settings-row"):
        method, s_q, store = first_row()
        k, rule = draft_choices()
    draft_hint = gr.Markdown(WORDS["set.rule_hint"], visible=False, elem_id="draft-hint")
    own_store = gr.Markdown(own_store_text(0), elem_id="own-store")
    return method, s_q, store, k, rule, draft_hint, own_store


def _buttons() -> tuple[gr.Button, gr.Button, gr.Button, gr.UploadButton]:
    """What can be done with the conversation and with the answer on show."""
    with gr.Row(elem_id="chat-buttons"):
        return (
            gr.Button(WORDS["chat.new"], size="sm", min_width=80, elem_id="new-chat"),
            gr.Button(WORDS["chat.undo"], size="sm", min_width=70, visible=False, elem_id="undo"),
            gr.Button(WORDS["chat.export"], size="sm", min_width=90, elem_id="export"),
            gr.UploadButton(
                WORDS["chat.import"], size="sm", min_width=90, file_types=[".json", ".trace"], elem_id="import"
            ),
        )


def _model_choice(models: list[str]) -> gr.Dropdown:
    return gr.Dropdown(
        models,
        value=None,
        label=WORDS["set.model"],
        info=WORDS["set.model_hint"],
        allow_custom_value=True,  # the one that is there may be a folder or a hub id
        visible=bool(models),
        elem_id="model",
    )


def _own_text() -> tuple[gr.Accordion, gr.Checkbox, gr.Checkbox, gr.Button]:
    with gr.Accordion(text_title(remember=True, share=False), open=False, elem_id="text", elem_classes="fold") as text:
        remember, share = text_controls()
        forget = gr.Button(WORDS["store.fill.clear"], size="sm", elem_id="forget")
        gr.Markdown(WORDS["text.rest"], elem_id="privacy")
    return text, remember, share, forget
