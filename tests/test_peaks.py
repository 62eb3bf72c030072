"""Peaks are positive and finite; how large they are is the machine's business."""

import math

import pytest
import torch

from sssd_demo import peaks


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peaks, "CPU_SIDE", 32)
    monkeypatch.setattr(peaks, "BUFFER_BYTES", 2**16)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_flops_are_measured_in_the_decoding_dtype(dtype: torch.dtype):
    flops = peaks.measure_flops(torch.device("cpu"), dtype)
    assert flops > 0
    assert math.isfinite(flops)


def test_bandwidth_is_measured():
    bandwidth = peaks.measure_bandwidth(torch.device("cpu"))
    assert bandwidth > 0
    assert math.isfinite(bandwidth)
