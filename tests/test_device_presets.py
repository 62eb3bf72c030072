"""Vendors' figures, and what follows from them."""

from __future__ import annotations

import pytest

from sssd_demo.device_presets import BYTES_PER_WEIGHT, DEVICES, MODELS, find_device
from sssd_demo.roofline import MAX_AUTO_S_Q


def test_all_devices_of_the_list_are_there_each_with_its_source():
    assert [device.name for device in DEVICES] == ["T4", "L4", "A10G", "A100", "H100", "H200"]
    assert all(device.source.startswith("https://") for device in DEVICES)
    assert find_device("L4") in DEVICES
    assert find_device("abacus") is None


@pytest.mark.parametrize(
    ("name", "knee"), [("T4", 203.1), ("L4", 403.3), ("A10G", 116.7), ("A100", 153.0), ("H100", 295.2), ("H200", 206.0)]
)
def test_knees_are_peak_by_bandwidth(name: str, knee: float):
    device = find_device(name)
    assert device is not None
    assert device.knee == pytest.approx(knee, abs=0.05)


def test_the_plain_rule_shares_the_knee_among_the_batch_and_weighs_the_weights():
    device = find_device("A10G")
    assert device is not None
    assert device.knee_tokens(2) == pytest.approx(116.7, abs=0.05)
    assert device.knee_tokens(0.5) == pytest.approx(29.2, abs=0.05)
    assert device.s_q(2, 1) == MAX_AUTO_S_Q
    assert [device.s_q(2, batch) for batch in (8, 32, 64)] == [14, 3, 1]
    assert [device.s_q(0.5, batch) for batch in (1, 8, 32)] == [29, 3, 1]


def test_what_fits_is_told_by_weights_and_context():
    t4, h200 = find_device("T4"), find_device("H200")
    assert t4 is not None
    assert h200 is not None
    assert t4.fits(MODELS["1.5B"], 32, 2048)
    assert not t4.fits(MODELS["8B"], 1, 64)  # 16 GB of weights alone
    assert not h200.fits(MODELS["70B"], 32, 256)
    assert h200.fits(MODELS["8B"], 64, 4096)
    assert set(BYTES_PER_WEIGHT.values()) == {2.0, 1.0, 0.5}


def test_shapes_are_those_of_the_models_configurations():
    llama = MODELS["8B"]
    assert (llama.weights + llama.looked_up) / 1e9 == pytest.approx(8.03)
    assert llama.kv_bytes == 131_072
    assert MODELS["70B"].kv_bytes == 327_680
