"""What Gradio calls in the Chat tab: sending and answering, looking back, saving, replaying, restoring.

What a turn does to a page is in `chat_turn.py`.
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
from sssd_demo.ui import chat_turn
from sssd_demo.ui.chat_turn import KEEP, Page
from sssd_demo.ui.conversation import History, text_of
from sssd_demo.ui.datastore_access import page_of
from sssd_demo.ui.service_host import ServiceHost
from sssd_demo.ui.sessions import Session, Sessions
from sssd_demo.ui.settings_panel import drafts_with_a_model, own_store_text, settings_from
from sssd_demo.ui.words import WORDS

SEARCHABLE_WITHIN = 0.5  # seconds that are waited for an answer's end to be counted in the page's own store

# Values for the parts of the page, in the order of `ChatLayout.page`.
Drawn = list[Any]
_UNCHANGED: Drawn = [gr.skip()] * 8


class ChatEvents:
    """For all pages: the id of a page's session comes with each request."""

    def __init__(self, host: ServiceHost, sessions: Sessions) -> None:
        self._host, self._sessions = host, sessions

    def send(self, message: str | None, history: History | None, request: gr.Request) -> Drawn:
        return _drawn(chat_turn.begin(self._host, self._session(request), history or [], message or ""))

    def example(self, history: History | None, chosen: gr.SelectData, request: gr.Request) -> Drawn:
        return self.send(chosen.value["text"], history, request)

    def retry(self, history: History, retry: gr.RetryData, request: gr.Request) -> Drawn:
        position = _position(retry.index)
        while history[position]["role"] != "user" and position:
            position -= 1
        return _drawn(chat_turn.begin_again(self._host, self._session(request), history, position, None))

    def edit(self, history: History, edit: gr.EditData, request: gr.Request) -> Drawn:
        position = _position(edit.index)
        before = [dict(message) for message in history]
        before[position]["content"] = edit.previous_value
        edited = text_of({"content": edit.value})
        return _drawn(chat_turn.begin_again(self._host, self._session(request), before, position, edited))

    def follow(self, history: History | None, remember: bool, request: gr.Request, *settings: Any) -> Iterator[Drawn]:
        """The parts that stream, while the answer to the last message is written."""
        session = self._session(request)
        drawn = False
        for page in chat_turn.follow(self._host, session, history or [], lambda: settings_from(*settings), remember):
            drawn = True
            yield _streamed(page)
        if not drawn or session.left:
            yield [gr.skip()] * 4  # Gradio sends the last value once more at the end, and empties all if there is none

    def end(self, request: gr.Request) -> Drawn:
        """The answer that was followed has ended: set the parts of the page that did not stream."""
        session = self._session(request)
        page, session.ending = session.ending, None
        return _drawn(replace(page, history=KEEP, answer=KEEP, figures=KEEP)) if page else _UNCHANGED

    def stop(self, request: gr.Request) -> Drawn:
        page = chat_turn.stop(self._session(request))
        return _drawn(page) if page else _UNCHANGED

    def new(self, request: gr.Request) -> Drawn:
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

    def undo(self, request: gr.Request) -> Drawn:
        return _drawn(chat_turn.undo(self._session(request)))

    def look_back(self, history: History, chosen: gr.SelectData, request: gr.Request) -> Drawn:
        session, position = self._session(request), _position(chosen.index)
        if session.wanted or history[position]["role"] != "assistant":
            return _UNCHANGED
        return _drawn(chat_turn.look_back(session, position, self._host.service))

    def replay(self, path: str, request: gr.Request) -> Drawn:
        session = self._session(request)
        if session.wanted:
            return _drawn(Page(notice=WORDS["refuse.busy"], running=True))
        try:
            return _drawn(chat_turn.replayed(session, trace_file.load(Path(path)), Path(path).name))
        except UserError as error:
            return _drawn(Page(notice=str(error)))

    def export(self, request: gr.Request) -> tuple[str, str]:
        """The trace of the answer on show for the browser to save, and a notice."""
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


def _drawn(page: Page) -> Drawn:
    """`page` as values for the components, in the order of `ChatLayout.page`."""
    parts = (page.history, page.answer, page.figures, page.message, page.notice)
    return [
        *(gr.skip() if part is KEEP else part for part in parts),
        gr.update(interactive=not page.running),
        gr.update(interactive=page.running),
        gr.update(visible=page.can_undo),
    ]


def _streamed(page: Page) -> Drawn:
    """`page` as values for the parts that change while an answer is written, as in `ChatLayout.streamed`."""
    values = [gr.skip() if part is KEEP else part for part in (page.history, page.answer, page.figures)]
    return [*values, None if page.notice is KEEP else page.notice]  # None: the notice stays


def _position(index: int | tuple[int, ...] | list[int]) -> int:
    return index if isinstance(index, int) else index[0]
