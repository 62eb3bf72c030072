"""How many bytes a round costs on its way to the browser, measured on the raw stream."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from sssd_demo.ui import pace
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


@pytest.mark.parametrize("s_q", [8, 32])
def test_a_round_is_cheap_even_when_each_travels_alone(
    app: RunningApp, service: FakeService, monkeypatch: pytest.MonkeyPatch, s_q: int
):
    monkeypatch.setattr(pace, "SHOW_EVERY", 0.0)
    monkeypatch.setattr(pace, "LONGEST", 0.0)
    run_event(app, "send", ["a long one", []])
    settings = ["sssd", str(s_q), "none", 0, 0, 1, 200, 0, False, "auto", "chain", ""]
    lines = run_event(app, "follow", [[entry("user", "a long one")], True, *settings])
    updates = [line for line in lines if '"process_generating"' in line]
    assert json.loads(updates[-1].removeprefix("data: "))["success"]
    streamed = updates[1:]  # the first carries the prompt
    assert len(streamed) > 20
    assert max(len(line.encode()) for line in streamed) < MOST_BYTES_PER_ROUND
