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


@pytest.mark.parametrize(("seconds", "side"), [(1e-12, 2048), (1e-8, 512), (1.0, 256)])
def test_nobody_waits_for_a_product_that_takes_minutes(monkeypatch: pytest.MonkeyPatch, seconds: float, side: int):
    """As where a CPU has no instructions for the format; `seconds` are those of one multiplication."""
    sides: list[int] = []

    def product(side: int, device: torch.device, dtype: torch.dtype) -> float:
        sides.append(side)
        return seconds * side**3

    monkeypatch.setattr(peaks, "CPU_SIDE", 2048)
    monkeypatch.setattr(peaks, "_of_product", product)
    assert peaks.measure_flops(torch.device("cpu"), torch.bfloat16) == pytest.approx(2 / seconds)
    assert sides[-1] == side


def test_bandwidth_is_measured():
    bandwidth = peaks.measure_bandwidth(torch.device("cpu"))
    assert bandwidth > 0
    assert math.isfinite(bandwidth)
