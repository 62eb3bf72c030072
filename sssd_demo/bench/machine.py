"""What the figures were measured on."""

from __future__ import annotations

import platform
from typing import Any

import torch
import transformers

from sssd_demo.cpu_name import cpu_name


def machine_facts(*, date: str, device: str, dtype: str) -> dict[str, Any]:
    """Facts that belong beside every figure; `date` is the day of the measurement."""
    return {
        "cpu": cpu_name(),
        "device": device,
        "threads": torch.get_num_threads(),
        "dtype": dtype,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "date": date,
    }
