"""What this machine's processor calls itself."""

from __future__ import annotations

import platform
from pathlib import Path


def cpu_name(info: Path = Path("/proc/cpuinfo")) -> str:
    """The processor's name as in Linux's `info`; where the system does not tell, its architecture; never empty."""
    lines = info.read_text(encoding="utf-8", errors="replace").splitlines() if info.is_file() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "") or platform.processor() or platform.machine() or "CPU"
