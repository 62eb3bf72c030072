"""What the figures were measured on."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

import torch
import transformers


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


def cpu_name(info: Path = Path("/proc/cpuinfo")) -> str:
    """The processor as it calls itself; where the system does not tell, its architecture."""
    lines = info.read_text(encoding="utf-8", errors="replace").splitlines() if info.is_file() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "") or platform.processor() or platform.machine()
