"""The app with a scripted service."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sssd_demo.ui.launch import RunningApp, launch
from tests.ui.fakes import FakeService, opens, wait_until

LONG = " ".join(f"item {n * 7919} of a list of items" for n in range(200))


@pytest.fixture
def service() -> FakeService:
    return FakeService(lambda question: LONG if "long" in question else f"You said: {question}", delay=0.01)


@pytest.fixture
def app(service: FakeService) -> Iterator[RunningApp]:
    running = launch(opens(service), "fake")
    wait_until(lambda: running.host.service is not None)
    yield running
    running.close()
