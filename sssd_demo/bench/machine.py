"""What the figures were measured on."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Any

import torch
import transformers

from sssd_demo.cpu_name import cpu_name

if TYPE_CHECKING:
    from sssd_demo.service import Service


def machine_facts(service: Service, date: str) -> dict[str, Any]:
    """Facts that belong beside every figure of `service`; `date` is the day of the measurement."""
    return {
        "cpu": cpu_name(),
        "device": service.model.device_name,
        "threads": service.threads,
        "dtype": service.model.dtype,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "date": date,
    }
