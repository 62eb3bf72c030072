"""How many bytes a picture of a growing store costs on its way to the browser."""

from __future__ import annotations

import pytest

from sssd_demo.ui import growth_events
from sssd_demo.ui.launch import launch
from tests.ui.fakes import opens, wait_until
from tests.ui.store_fakes import StoreService
from tests.ui.test_wire import run_event

MOST_BYTES_PER_UPDATE = 4000


def test_a_picture_costs_a_few_kilobytes_however_long_the_run(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(growth_events, "SHOW_EVERY", 0.05)
    monkeypatch.setattr(growth_events, "prompts", lambda: [f"question {n}" for n in range(60)])
    service = StoreService(lambda question: f"The cat sat on the mat and {question} too.", delay=0.002)
    app = launch(opens(service), "fake")
    try:
        wait_until(lambda: app.host.service is not None)
        run_event(app, "play", ["small"])
        lines = [line for line in run_event(app, "watch", []) if '"process_generating"' in line]
    finally:
        app.close()
    sizes = [len(line.encode()) for line in lines[1:]]  # the first is the whole picture
    assert len(sizes) > 20
    early, late = sizes[:10], sizes[-12:-2]
    assert max(sum(early), sum(late)) / 10 < MOST_BYTES_PER_UPDATE
