"""The whole page: header, tabs, and the clock that keeps the header true."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import gradio as gr

from sssd_demo import trace_file
from sssd_demo.compare.in_turn import InTurn
from sssd_demo.errors import UserError
from sssd_demo.service import MAX_ROWS
from sssd_demo.trace import Trace
from sssd_demo.ui import api
from sssd_demo.ui.chat_layout import ChatLayout
from sssd_demo.ui.chat_tab import chat_tab
from sssd_demo.ui.compare_tab import compare_tab
from sssd_demo.ui.components import STATIC, header
from sssd_demo.ui.datastore_access import page_of
from sssd_demo.ui.datastore_tab import datastore_tab
from sssd_demo.ui.odd_requests import Page
from sssd_demo.ui.roofline_tab import roofline_tab
from sssd_demo.ui.saguaro_tab import saguaro_tab
from sssd_demo.ui.service_host import ServiceHost
from sssd_demo.ui.sessions import Sessions
from sssd_demo.ui.settings_panel import choices
from sssd_demo.ui.wiring import AT_ONCE, WAIT
from sssd_demo.ui.words import WORDS

logger = logging.getLogger(__name__)

TICK = 1.5  # seconds between looks at the model's state
MOST_MEASURING = 6  # comparisons and Saguaro runs that run or wait at a time


def build(host: ServiceHost, models: list[str]) -> gr.Blocks:
    """The app around `host`, whose model may still be loading; the page is usable all the same.

    A visitor may change the model to one of `models`, if there are any.
    """
    sessions = Sessions(forget=host.forget, drop_store=host.drop_store)

    def leave(request: gr.Request) -> None:
        sessions.leave(page_of(request))

    with Page(title=WORDS["title"], fill_width=True, analytics_enabled=False) as demo:
        head = header(head_value(host, sessions), elem_id="header")
        chat = _tabs(demo, host, sessions, models)
        gr.on([demo.load, gr.Timer(TICK).tick], lambda: head_value(host, sessions), None, [head], **AT_ONCE)
        _offer_models(demo, chat, host, sessions)
        demo.unload(leave)
        api.add_chat(host, sessions, capacity=MAX_ROWS)
    return demo


def _tabs(demo: gr.Blocks, host: ServiceHost, sessions: Sessions, models: list[str]) -> ChatLayout:
    in_turn = InTurn(MOST_MEASURING)  # what visitors measure, in whatever tab
    with gr.Tabs(overflow_behavior="wrap", elem_id="tabs"):
        with gr.Tab(WORDS["tab.chat"], id="chat") as first:
            chat = chat_tab(demo, first, host, sessions, capacity=MAX_ROWS, recorded=recorded_run(), models=models)
        with gr.Tab(WORDS["tab.compare"], id="compare") as compare:
            compare_tab(demo, compare, host, in_turn)
        with gr.Tab(WORDS["tab.saguaro"], id="saguaro") as saguaro:
            saguaro_tab(demo, saguaro, host, in_turn)
        with gr.Tab(WORDS["tab.store"], id="store") as store:
            datastore_tab(demo, store, host, sessions, forget=chat.forget)
        with gr.Tab(WORDS["tab.roof"], id="roofline") as roof:
            roofline_tab(demo, roof, host, sessions)
    return chat


def _offer_models(demo: gr.Blocks, chat: ChatLayout, host: ServiceHost, sessions: Sessions) -> None:
    """List what the loaded model offers, and let another one be chosen while nobody is being answered."""
    waiting = gr.Timer(WAIT)

    def offer() -> list[Any]:
        """Once the model is there: list what it offers, and wait no longer."""
        if host.service is None:
            return [gr.skip()] * 4
        return [*choices(host.service), host.model, gr.Timer(active=False)]

    def change(name: str | None) -> tuple[str, str, Any]:
        if not name or name == host.model:
            return host.model, "", gr.skip()
        try:
            if answering(host, sessions):
                raise UserError(WORDS["refuse.model_busy"])
            host.change(name)
        except UserError as error:
            return host.model, str(error), gr.skip()
        return name, WORDS["notice.model"].format(name=name), gr.Timer(active=True)

    offered = [chat.settings.method, chat.settings.store, chat.model, waiting]
    gr.on([demo.load, waiting.tick], offer, None, offered, **AT_ONCE)
    chat.model.input(change, [chat.model], [chat.model, chat.notice, waiting], **AT_ONCE)


def answering(host: ServiceHost, sessions: Sessions) -> int:
    """How many answers are being written or wait for it: visitors' and those of growth runs and programs."""
    return max(sessions.running(), host.service.engine.busy if host.service else 0)


def head_value(host: ServiceHost, sessions: Sessions) -> dict[str, Any]:
    """What the header shows now."""
    loading, service, busy = host.loading, host.service, answering(host, sessions)
    if service is None:
        words = "status.failed" if loading.state == "failed" else "status.loading"
        text = WORDS[words].format(stage=loading.stage, reason=loading.stage)
        return {"state": loading.state, "text": text, "about": "", "fraction": loading.fraction}
    model = service.model
    text = WORDS["status.busy" if busy else "status.ready"].format(
        model=model.name, device=model.device_name, dtype=model.dtype, n=busy
    )
    about = WORDS["status.about"].format(
        model=model.name, source=model.source, licence=model.licence, dtype=model.dtype, reason=model.dtype_reason
    )
    if host.refused:
        text = WORDS["status.refused"].format(status=text, reason=host.refused)
    return {"state": "busy" if busy else "ready", "text": text, "about": about, "fraction": None}


def recorded_run(path: Path = STATIC / "recorded_run.json") -> Trace | None:
    """The recorded answer that plays until the visitor has one of their own; None if there is none."""
    if not path.exists():
        return None
    try:
        return trace_file.load(path)
    except UserError:
        logger.exception("the recorded run cannot be shown")
        return None
