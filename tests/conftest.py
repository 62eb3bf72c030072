"""What many tests share: the embedded model, fetched on first use, and the question files beside the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from sssd_demo import models
from sssd_demo.errors import UserError

EMBEDDED = "smollm2-135m"
DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def embedded_model_folder() -> Path:
    """The folder of the embedded model; tests that need it are skipped where it can be neither found nor fetched."""
    try:
        return models.fetch(EMBEDDED)[0].path
    except UserError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def embedded_text(embedded_model_folder: Path):
    """The embedded model's `Text`, without its weights."""
    return models.load_text(EMBEDDED)


@pytest.fixture(scope="session")
def embedded_model(embedded_model_folder: Path):
    """The embedded model on the CPU in float32, where equal computations give equal tokens."""
    return models.load(EMBEDDED, device="cpu", dtype="float32")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Question files that lie beside the project and are no part of it."""
    if not DATA.is_dir():
        pytest.skip("the question files are not beside this project")
    return DATA
