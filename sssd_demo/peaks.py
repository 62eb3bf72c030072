"""What this machine achieves, measured rather than read off a data sheet: operations and bytes per second."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter

import torch

from sssd_demo.roofline import Profile

CPU_SIDE, GPU_SIDE = 2048, 8192  # of the square matrices: long enough to reach the peak, short enough to wait for
FIRST_SIDE = 256
LONGEST = 2.0  # seconds of one product; a CPU that lacks the format's instructions takes minutes for a large one
BUFFER_BYTES = 512 * 2**20  # larger than any last cache
REPEATS = 4


def with_peaks(profile: Profile, device: torch.device, dtype: torch.dtype) -> Profile:
    """`profile` with both peaks of `device` measured anew."""
    return replace(profile, flops=measure_flops(device, dtype), bandwidth=measure_bandwidth(device))


def measure_flops(device: torch.device, dtype: torch.dtype) -> float:
    """Operations per second of a large matrix product in `dtype`, with the calling thread's torch threads."""
    full = CPU_SIDE if device.type == "cpu" else GPU_SIDE
    side = min(FIRST_SIDE, full)
    seconds = _of_product(side, device, dtype)
    while side < full and 8 * seconds <= LONGEST:
        side *= 2
        seconds = _of_product(side, device, dtype)
    return 2 * side**3 / seconds


def measure_bandwidth(device: torch.device) -> float:
    """Bytes per second read from memory by a sum over a buffer that no cache holds."""
    # Written first: pages never touched are all one page of zeros, which the cache does hold.
    buffer = torch.ones(BUFFER_BYTES // torch.float32.itemsize, device=device)
    return BUFFER_BYTES / _fastest(buffer.sum, device)


def _of_product(side: int, device: torch.device, dtype: torch.dtype) -> float:
    """Seconds that the product of two square matrices takes."""
    left, right = (torch.full((side, side), 0.5, device=device, dtype=dtype) for _ in range(2))
    return _fastest(lambda: left @ right, device)


def _fastest(work: Callable[[], torch.Tensor], device: torch.device) -> float:
    """Seconds of the fastest run: other programs can only make a peak look lower."""
    times = []
    for _ in range(REPEATS):
        _wait(device)
        start = perf_counter()
        work()
        _wait(device)
        times.append(perf_counter() - start)
    return min(times)


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
