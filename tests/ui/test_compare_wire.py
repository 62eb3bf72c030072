"""How many bytes a picture of a running comparison costs on its way to the browser."""

from __future__ import annotations

import pytest

from sssd_demo.ui import compare_events
from sssd_demo.ui.launch import launch
from tests.compare.fakes import CompareService
from tests.ui.fakes import opens, wait_until
from tests.ui.test_compare_events import asked
from tests.ui.test_wire import run_event

MOST_BYTES_PER_ROUND = 1200
LONG = " ".join(f"item {n * 7919} of a list of items" for n in range(60))


def test_a_picture_costs_what_is_new_in_it_however_many_lanes_are_there(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(compare_events, "SHOW_EVERY", 0.02)
    app = launch(opens(CompareService(lambda question: LONG, delay=0.02)), "fake")
    try:
        wait_until(lambda: app.host.service is not None)
        run_event(app, "compare", ["a cat", *asked(s_q=["4", "8", "12", "16"], longest=60)])
        lines = [line for line in run_event(app, "look_on", []) if '"process_generating"' in line]
    finally:
        app.close()
    sizes = sorted(len(line.encode()) for line in lines[1:])  # the first is the whole picture
    assert len(sizes) > 60
    assert sizes[len(sizes) // 2] < MOST_BYTES_PER_ROUND
    assert sizes[-1] < 20 * MOST_BYTES_PER_ROUND  # a lane's first picture brings the prompt, its last one the results
