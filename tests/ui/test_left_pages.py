"""Visitors who leave: whatever they were in the middle of, their place is free for the next one."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from gradio_client import Client

from sssd_demo import service as service_module
from sssd_demo.answer import Answer
from sssd_demo.service import Service
from sssd_demo.ui import frame
from sssd_demo.ui.launch import RunningApp, launch
from tests.toy_models import save_toy_model
from tests.ui.fakes import wait_until

VISITORS = 20
AT_ONCE = 8
IN_APP = 4  # answers that the app hands to the engine at once; the other visitors wait in its queue
ROWS = 3  # sequences decoded together; the fourth waits in the engine
QUESTION = "the cat sat on the mat"


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.setattr(service_module, "MAX_ROWS", ROWS)
    opened = Service.open(
        str(save_toy_model(tmp_path, vocab_size=325)), device="cpu", dtype="float32", stores_folder=tmp_path / "stores"
    )
    yield opened
    opened.close()


@pytest.fixture
def app(service: Service, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningApp]:
    monkeypatch.setattr(frame, "MAX_ROWS", IN_APP)
    running = launch(lambda model, progress: service, "toy")
    wait_until(lambda: running.host.service is not None)
    yield running
    running.close()


def visit(url: str, name: str, stays: float) -> None:
    """Ask, and close the connection after so many seconds, as a closed tab does."""
    base = f"{url}gradio_api"
    with httpx.Client(timeout=30) as http:
        listed = http.get(f"{url}config").json()["dependencies"]
        chat = next(dependency["id"] for dependency in listed if dependency["api_name"] == "chat")
        data = [QUESTION, [], "sssd", 200, 1.0, 0, 1.0, 0, "8", "none", "auto", "chain", None]
        joined = {"data": data, "fn_index": chat, "session_hash": name, "event_data": None}
        http.post(f"{base}/queue/join", json=joined).raise_for_status()
        ends = time.monotonic() + stays
        patience = httpx.Timeout(30, read=stays)  # who waits in the queue hears nothing
        with (
            suppress(httpx.ReadTimeout),
            http.stream("GET", f"{base}/queue/data", params={"session_hash": name}, timeout=patience) as stream,
        ):
            for line in stream.iter_lines():
                if time.monotonic() > ends or "process_completed" in line:
                    return


def test_after_twenty_visitors_who_left_at_any_moment_a_new_one_is_answered(
    app: RunningApp, service: Service, monkeypatch: pytest.MonkeyPatch
):
    asked: list[Answer] = []
    ask = service.ask

    def note(*args: Any, **named: Any) -> Answer:
        asked.append(ask(*args, **named))
        return asked[-1]

    monkeypatch.setattr(service, "ask", note)
    moments = random.Random(0)
    stays = [moments.uniform(0.02, 0.6) for _ in range(VISITORS)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        names = [f"left-{number}" for number in range(VISITORS)]
        list(pool.map(visit, [app.url] * VISITORS, names, stays))
    wait_until(lambda: service.engine.busy == 0, seconds=60)
    assert any(answer.trace.rounds and not answer.trace.finish_reason for answer in asked)  # some left in mid-answer
    assert len(asked) < VISITORS or any(not answer.trace.rounds for answer in asked)  # and some while they waited
    client = Client(app.url, verbose=False)
    job = client.submit(QUESTION, max_new_tokens=20, api_name="/chat")
    wait_until(lambda: bool(job.outputs()), seconds=60)
    final = job.result(timeout=60)
    assert sum(len(round_["committed"]) for round_ in final["rounds"]) == 20 or final["finish_reason"] == "end_of_text"
    assert {round_["batch_size"] for round_ in final["rounds"]} == {1}
