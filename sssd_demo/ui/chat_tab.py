"""The Chat tab: which control does what.

Where the controls stand is in `chat_layout.py`, what a turn does in `chat_turn.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradio as gr

from sssd_demo import trace_file
from sssd_demo.errors import UserError
from sssd_demo.trace import Trace
from sssd_demo.ui import chat_turn
from sssd_demo.ui.chat_layout import ChatLayout, build
from sssd_demo.ui.chat_turn import KEEP, Page
from sssd_demo.ui.conversation import History, text_of
from sssd_demo.ui.datastore_access import page_of
from sssd_demo.ui.service_host import ServiceHost
from sssd_demo.ui.sessions import Session, Sessions
from sssd_demo.ui.settings_panel import drafts_with_a_model, for_method, own_store_text, settings_from, text_title
from sssd_demo.ui.words import WORDS

ENGINE = "engine"  # the concurrency group of all that is answered by the model
SEARCHABLE_WITHIN = 0.5  # seconds that are waited for an answer's end to be counted in the page's own store
TRACE_NAME = "sssd_demo_trace.json"

_QUIET: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
_AT_ONCE: dict[str, Any] = {**_QUIET, "queue": False}
_UNCHANGED = [gr.skip()] * 8  # one for each part of the page


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
    layout = build(recorded, models)
    handlers = _Handlers(host, sessions)
    page = [
        layout.chatbot, layout.answer, layout.figures, layout.message, layout.notice, layout.send, layout.stop,
        layout.undo,
    ]  # fmt: skip
    # Gradio builds a component anew for every update that has no plain value for it, so the others wait for the end.
    streamed = [layout.chatbot, layout.answer, layout.figures, layout.notice]
    keep: dict[str, Any] = {
        "fn": None,
        "inputs": [layout.chatbot],
        "js": "(history) => window.sssdDemo.keep(history)",
        **_AT_ONCE,
    }

    own_store: dict[str, Any] = {
        "fn": handlers.own_store,
        "inputs": [layout.remember, layout.settings.method],
        "outputs": [layout.own_store],
        **_AT_ONCE,
    }

    def write_answer(begun: Any) -> Any:
        """Once the message stands in the conversation: keep it, and follow its answer. Returns the latter event."""
        begun.then(**keep)
        following = begun.then(
            handlers.follow,
            [layout.chatbot, layout.remember, *layout.settings.controls()],
            streamed,
            concurrency_id=ENGINE,
            concurrency_limit=capacity,
            **_QUIET,
        )
        ended = following.then(handlers.end, None, page, **_AT_ONCE)
        ended.then(**keep)
        ended.then(**own_store)
        return following

    typed = [layout.message, layout.chatbot]
    answers = [
        write_answer(gr.on([layout.send.click, layout.message.submit], handlers.send, typed, page, **_AT_ONCE)),
        write_answer(layout.chatbot.example_select(handlers.example, [layout.chatbot], page, **_AT_ONCE)),
        write_answer(layout.chatbot.retry(handlers.retry, [layout.chatbot], page, **_AT_ONCE)),
        write_answer(layout.chatbot.edit(handlers.edit, [layout.chatbot], page, **_AT_ONCE)),
    ]
    layout.stop.click(handlers.stop, None, page, **_AT_ONCE)
    # What an answer has already sent must not arrive in the new conversation.
    gr.on(
        [layout.new.click, layout.chatbot.clear], handlers.new, None, page, cancels=answers, **_AT_ONCE
    ).then(**keep)  # fmt: skip
    where = [layout.remember, layout.settings.share]
    gr.on(
        [box.input for box in where],
        lambda *set_to: gr.update(label=text_title(*set_to)),
        where,
        [layout.text],
        **_AT_ONCE,
    )
    layout.forget.click(handlers.forget, None, [layout.notice], **_AT_ONCE).then(**own_store)
    gr.on([layout.remember.input, tab.select], **own_store)  # the other tab may have changed it
    panel = layout.settings
    goes_by = [panel.s_q, panel.store, panel.k, panel.rule, layout.draft_hint, panel.draft_temperature]
    panel.method.change(for_method, [panel.method], goes_by, **_AT_ONCE).then(**own_store)
    layout.undo.click(handlers.undo, None, page, **_AT_ONCE).then(**keep)
    layout.chatbot.select(handlers.look_back, [layout.chatbot], page, **_AT_ONCE)
    layout.upload.upload(handlers.replay, [layout.upload], page, **_AT_ONCE)
    layout.export.click(handlers.export, None, [layout.trace_text, layout.notice], **_AT_ONCE).then(
        None,
        [layout.trace_text],
        js=f"(text) => window.sssdDemo.save('{TRACE_NAME}', text)",
        **_AT_ONCE,
    )
    layout.message.change(None, [layout.message], js="(text) => window.sssdDemo.keepDraft(text)", **_AT_ONCE)
    kept = [layout.chatbot, layout.message]
    demo.load(handlers.restore, kept, kept, js="() => window.sssdDemo.kept()", **_AT_ONCE)
    return layout


class _Handlers:
    """What Gradio calls. The id of a page's session comes with each request."""

    def __init__(self, host: ServiceHost, sessions: Sessions) -> None:
        self._host, self._sessions = host, sessions

    def send(self, message: str | None, history: History | None, request: gr.Request) -> list[Any]:
        return _drawn(chat_turn.begin(self._host, self._session(request), history or [], message or ""))

    def example(self, history: History | None, chosen: gr.SelectData, request: gr.Request) -> list[Any]:
        return self.send(chosen.value["text"], history, request)

    def retry(self, history: History, retry: gr.RetryData, request: gr.Request) -> list[Any]:
        position = _position(retry.index)
        while history[position]["role"] != "user" and position:
            position -= 1
        return _drawn(chat_turn.begin_again(self._host, self._session(request), history, position, None))

    def edit(self, history: History, edit: gr.EditData, request: gr.Request) -> list[Any]:
        position = _position(edit.index)
        before = [dict(message) for message in history]
        before[position]["content"] = edit.previous_value
        edited = text_of({"content": edit.value})
        return _drawn(chat_turn.begin_again(self._host, self._session(request), before, position, edited))

    def follow(
        self, history: History | None, remember: bool, request: gr.Request, *settings: Any
    ) -> Iterator[list[Any]]:
        session = self._session(request)
        drawn = False
        for page in chat_turn.follow(self._host, session, history or [], lambda: settings_from(*settings), remember):
            drawn = True
            yield _streamed(page)
        if not drawn or session.left:
            yield [gr.skip()] * 4  # Gradio sends the last value once more at the end, and empties all if there is none

    def end(self, request: gr.Request) -> list[Any]:
        """The answer that was followed has ended: set the parts of the page that did not stream."""
        session = self._session(request)
        page, session.ending = session.ending, None
        return _drawn(replace(page, history=KEEP, answer=KEEP, figures=KEEP)) if page else _UNCHANGED

    def stop(self, request: gr.Request) -> list[Any]:
        page = chat_turn.stop(self._session(request))
        return _drawn(page) if page else _UNCHANGED

    def new(self, request: gr.Request) -> list[Any]:
        self._sessions.end_conversation(page_of(request))
        return _drawn(Page(history=[], answer=None, figures=None))

    def forget(self, request: gr.Request) -> str:
        self._host.drop_store(self._session(request).id)
        return WORDS["notice.forgotten"]

    def own_store(self, remember: bool, method: str | None, request: gr.Request) -> str:
        """That the page's own store is drawn from too, and how large it is; nothing where it is not."""
        service = self._host.service
        if not remember or drafts_with_a_model(method):
            return ""
        if service is None:
            return own_store_text(0)
        store = service.session_store(page_of(request))
        store.wait(SEARCHABLE_WITHIN)
        return own_store_text(store.state().tokens)

    def undo(self, request: gr.Request) -> list[Any]:
        return _drawn(chat_turn.undo(self._session(request)))

    def look_back(self, history: History, chosen: gr.SelectData, request: gr.Request) -> list[Any]:
        session, position = self._session(request), _position(chosen.index)
        if session.wanted or history[position]["role"] != "assistant":
            return _UNCHANGED
        return _drawn(chat_turn.look_back(session, position, self._host.service))

    def replay(self, path: str, request: gr.Request) -> list[Any]:
        session = self._session(request)
        if session.wanted:
            return _drawn(Page(notice=WORDS["refuse.busy"], running=True))
        try:
            return _drawn(chat_turn.replayed(session, trace_file.load(Path(path)), Path(path).name))
        except UserError as error:
            return _drawn(Page(notice=str(error)))

    def export(self, request: gr.Request) -> tuple[str, str]:
        trace = self._session(request).shown
        if trace is None:
            return "", WORDS["refuse.no_trace"]
        return json.dumps(trace_file.to_json(trace), separators=(",", ":")), ""

    def restore(self, history: History | None, draft: str | None) -> tuple[Any, Any]:
        """What the tab held before a reload; a question whose answer was lost goes back into its box."""
        history = history or []
        if history and history[-1]["role"] == "user":
            draft = text_of(history.pop())
        return history or gr.skip(), draft or gr.skip()

    def _session(self, request: gr.Request) -> Session:
        return self._sessions.get(page_of(request))


def _drawn(page: Page) -> list[Any]:
    """`page` as values for the components, in the order in which they are listed in `chat_tab`."""
    parts = (page.history, page.answer, page.figures, page.message, page.notice)
    return [
        *(gr.skip() if part is KEEP else part for part in parts),
        gr.update(interactive=not page.running),
        gr.update(interactive=page.running),
        gr.update(visible=page.can_undo),
    ]


def _streamed(page: Page) -> list[Any]:
    """`page` as values for the parts that change while an answer is written."""
    values = [gr.skip() if part is KEEP else part for part in (page.history, page.answer, page.figures)]
    return [*values, None if page.notice is KEEP else page.notice]  # None: the notice stays


def _position(index: int | tuple[int, ...] | list[int]) -> int:
    return index if isinstance(index, int) else index[0]
