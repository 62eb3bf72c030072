"""How many bytes a round costs on its way to the browser, measured on the raw stream."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from sssd_demo.ui import chat_turn
from sssd_demo.ui.conversation import entry
from sssd_demo.ui.launch import RunningApp
from tests.ui.fakes import FakeService

MOST_BYTES_PER_ROUND = 1200


def event_id(app: RunningApp, name: str) -> int:
    return next(id_ for id_, fn in app.demo.fns.items() if getattr(fn.fn, "__name__", "") == name)


def run_event(app: RunningApp, name: str, data: list[Any]) -> list[str]:
    """Trigger one handler as a browser does; returns the lines of its stream."""
    base = f"{app.url}gradio_api"
    with httpx.Client(timeout=60, headers={"accept-encoding": "identity"}) as client:
        joined = {"data": data, "fn_index": event_id(app, name), "session_hash": "probe", "event_data": None}
        client.post(f"{base}/queue/join", json=joined).raise_for_status()
        lines = []
        with client.stream("GET", f"{base}/queue/data", params={"session_hash": "probe"}) as stream:
            for line in stream.iter_lines():
                if line:
                    lines.append(line)
                if "process_completed" in line:
                    return lines
    return lines


@pytest.mark.parametrize(("s_q", "most"), [(8, MOST_BYTES_PER_ROUND), (16, MOST_BYTES_PER_ROUND)])
def test_a_round_is_cheap_even_when_each_travels_alone(
    app: RunningApp, service: FakeService, monkeypatch: pytest.MonkeyPatch, s_q: int, most: int
):
    monkeypatch.setattr(chat_turn, "SHOW_EVERY", 0.0)
    run_event(app, "send", ["a long one", []])
    settings = ["sssd", str(s_q), "none", 0, 0, 1, 200, 0, False]
    lines = run_event(app, "follow", [[entry("user", "a long one")], True, *settings])
    updates = [line for line in lines if '"process_generating"' in line]
    rounds = len(service.answers[-1].trace.rounds)
    assert json.loads(updates[-1].removeprefix("data: "))["success"]
    streamed = updates[1:]  # the first carries the prompt
    assert len(streamed) > 20
    assert sum(len(line.encode()) for line in streamed) / rounds < most
