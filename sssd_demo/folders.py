"""Where the project keeps what should outlive a run. Neither folder need exist yet."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

CACHE_VARIABLE = "SSSD_DEMO_CACHE"
DATA_VARIABLE = "SSSD_DEMO_DATA"


def cache_folder() -> Path:
    """The folder for models: `SSSD_DEMO_CACHE`, else the platform's cache folder of the user."""
    return Path(os.environ.get(CACHE_VARIABLE) or platformdirs.user_cache_path("sssd_demo"))


def data_folder() -> Path:
    """The folder for stores and probe results: `SSSD_DEMO_DATA`, else the platform's folder for user data."""
    return Path(os.environ.get(DATA_VARIABLE) or platformdirs.user_data_path("sssd_demo"))
