"""Where the project keeps what should outlive a run."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

DATA_VARIABLE = "SSSD_DEMO_DATA"


def data_folder() -> Path:
    """The folder for stores and probe results: `SSSD_DEMO_DATA`, else the platform's folder for user data.

    It need not exist yet.
    """
    return Path(os.environ.get(DATA_VARIABLE) or platformdirs.user_data_path("sssd_demo"))
