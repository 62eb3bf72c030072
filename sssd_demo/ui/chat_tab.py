"""The Chat tab: which control does what.

Where the controls stand is in `chat_layout.py`; what they do is in `chat_events.py`.
"""

from __future__ import annotations

from typing import Any

import gradio as gr

from sssd_demo.trace import Trace
from sssd_demo.ui.chat_events import ChatEvents
from sssd_demo.ui.chat_layout import ChatLayout, build
from sssd_demo.ui.service_host import ServiceHost
from sssd_demo.ui.sessions import Sessions
from sssd_demo.ui.settings_panel import for_method, text_title
from sssd_demo.ui.wiring import AT_ONCE, QUIET, save_file

ENGINE = "engine"  # the concurrency group of all that is answered by the model
TRACE_NAME = "sssd_demo_trace.json"

# An event by the names of its parameters, for the places that it follows on.
Event = dict[str, Any]


def chat_tab(
    demo: gr.Blocks,
    tab: gr.Tab,
    host: ServiceHost,
    sessions: Sessions,
    *,
    capacity: int,
    recorded: Trace | None,
    models: list[str],
) -> ChatLayout:
    """Build the tab inside the current block of `demo`. `capacity` answers are written at the same time."""
    layout, events = build(recorded, models), ChatEvents(host, sessions)
    keep, own_store = _keep(layout), _own_store(layout, events)
    _converse(layout, events, capacity, keep, own_store)
    _look(layout, events)
    _choose(layout, own_store)
    _own_text(layout, events, tab, own_store)
    _survive_reload(demo, layout, events)
    return layout


def _keep(layout: ChatLayout) -> Event:
    """The browser keeps the conversation for a reload."""
    return {
        "fn": None,
        "inputs": [layout.chatbot],
        "js": "(history) => window.sssdDemo.keep(history)",
        **AT_ONCE,
    }


def _own_store(layout: ChatLayout, events: ChatEvents) -> Event:
    """The line about the page's own store is set to what is true now."""
    return {
        "fn": events.own_store,
        "inputs": [layout.remember, layout.settings.method],
        "outputs": [layout.own_store],
        **AT_ONCE,
    }


def _converse(layout: ChatLayout, events: ChatEvents, capacity: int, keep: Event, own_store: Event) -> None:
    """Messages and their answers, and what else changes the conversation."""
    page, history = layout.page(), [layout.chatbot]

    def write_answer(begun: Any) -> Any:
        """Once the message stands in the conversation: keep it, and follow its answer. Returns the latter event."""
        begun.then(**keep)
        following = begun.then(
            events.follow,
            [layout.chatbot, layout.remember, *layout.settings.controls()],
            layout.streamed(),
            concurrency_id=ENGINE,
            concurrency_limit=capacity,
            **QUIET,
        )
        ended = following.then(events.end, None, page, **AT_ONCE)
        ended.then(**keep)
        ended.then(**own_store)
        return following

    typed = [layout.message, layout.chatbot]
    answers = [
        write_answer(gr.on([layout.send.click, layout.message.submit], events.send, typed, page, **AT_ONCE)),
        write_answer(layout.chatbot.example_select(events.example, history, page, **AT_ONCE)),
        write_answer(layout.chatbot.retry(events.retry, history, page, **AT_ONCE)),
        write_answer(layout.chatbot.edit(events.edit, history, page, **AT_ONCE)),
    ]
    layout.stop.click(events.stop, None, page, **AT_ONCE)
    # What an answer has already sent must not arrive in the new conversation.
    renewed = gr.on([layout.new.click, layout.chatbot.clear], events.new, None, page, cancels=answers, **AT_ONCE)
    renewed.then(**keep)
    layout.undo.click(events.undo, None, page, **AT_ONCE).then(**keep)


def _look(layout: ChatLayout, events: ChatEvents) -> None:
    """Another answer is put on show; the one on show is saved."""
    layout.chatbot.select(events.look_back, [layout.chatbot], layout.page(), **AT_ONCE)
    layout.upload.upload(events.replay, [layout.upload], layout.page(), **AT_ONCE)
    save_file(layout.export, events.export, layout.trace_text, layout.notice, name=TRACE_NAME)


def _choose(layout: ChatLayout, own_store: Event) -> None:
    """The settings that a method goes by are those that are seen."""
    panel = layout.settings
    goes_by = [panel.s_q, panel.store, panel.k, panel.rule, layout.draft_hint, panel.draft_temperature]
    panel.method.change(for_method, [panel.method], goes_by, **AT_ONCE).then(**own_store)


def _own_text(layout: ChatLayout, events: ChatEvents, tab: gr.Tab, own_store: Event) -> None:
    """Where the visitor's text goes is said at once, and can be undone."""
    where = [layout.remember, layout.settings.share]
    gr.on(
        [box.input for box in where],
        lambda *set_to: gr.update(label=text_title(*set_to)),
        where,
        [layout.text],
        **AT_ONCE,
    )
    layout.forget.click(events.forget, None, [layout.notice], **AT_ONCE).then(**own_store)
    gr.on([layout.remember.input, tab.select], **own_store)  # the other tab may have changed it


def _survive_reload(demo: gr.Blocks, layout: ChatLayout, events: ChatEvents) -> None:
    """The browser keeps what is being written too, and all of it comes back."""
    layout.message.change(None, [layout.message], js="(text) => window.sssdDemo.keepDraft(text)", **AT_ONCE)
    kept = [layout.chatbot, layout.message]
    demo.load(events.restore, kept, kept, js="() => window.sssdDemo.kept()", **AT_ONCE)
