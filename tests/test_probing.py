"""Measuring a machine while a service runs on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sssd_demo import peaks
from sssd_demo.probing import Stopped, measure
from sssd_demo.profile_file import load_profile, measured_at
from sssd_demo.roofline import CONTEXTS, LENGTHS
from sssd_demo.service import Service, Settings
from tests.toy_models import save_toy_model


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.setattr(peaks, "CPU_SIDE", 32)
    monkeypatch.setattr(peaks, "BUFFER_BYTES", 2**16)
    opened = Service.open(
        str(save_toy_model(tmp_path, vocab_size=325)), device="cpu", dtype="float32", stores_folder=tmp_path / "stores"
    )
    yield opened
    opened.close()


def test_the_whole_profile_is_measured_kept_and_used(service: Service):
    heard: list[float] = []
    before = service.profile
    profile = measure(service, lambda point, share: heard.append(share), stopped=lambda: False)
    assert {context for _, _, context in profile.forward_seconds} == {c for c in CONTEXTS if c < 256}
    assert {batch for batch, _, _ in profile.forward_seconds} > {1, 2}
    assert profile.knee is not None
    assert service.profile == profile != before
    assert load_profile(service.profile_key()) == profile
    assert measured_at(service.profile_key()) is not None
    assert heard[0] == 0
    assert heard == sorted(heard)
    assert max(heard) < 1


def test_answers_are_written_between_two_measurements(service: Service):
    answered: list[int] = []

    def ask(point: tuple[int, int, int], share: float) -> None:
        if not answered:
            answer = service.ask("the cat", Settings(method="autoregressive", max_new_tokens=5), raw=True)
            answered.append(sum(len(round_.committed) for round_ in answer))

    measure(service, ask, stopped=lambda: False)
    assert answered[0] >= 1


def test_a_measurement_that_is_stopped_leaves_things_as_they_were(service: Service):
    before, heard = service.profile, []
    kept = load_profile(service.profile_key())
    with pytest.raises(Stopped):
        measure(service, lambda point, share: heard.append(point), stopped=lambda: len(heard) == 3)
    assert service.profile is before
    assert load_profile(service.profile_key()) == kept


def test_every_length_of_a_batch_is_announced(service: Service):
    heard: set[tuple[int, int, int]] = set()
    profile = measure(service, lambda point, share: heard.add(point), stopped=lambda: False)
    assert heard == set(profile.forward_seconds)
    assert {length for batch, length, _ in heard if batch == 1} <= set(LENGTHS)
