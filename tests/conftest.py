"""What many tests share: the embedded model, fetched on first use, and the question files beside the project."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sssd_demo import models
from sssd_demo.errors import UserError
from sssd_demo.folders import DATA_VARIABLE
from sssd_demo.service import Service
from sssd_demo.stores import Stores

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
def embedded_service(embedded_model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """The embedded model in float32 behind its engine, with a folder of stores of its own."""
    model = models.load(EMBEDDED, device="cpu", dtype="float32")
    text = model.text
    stores = Stores(tmp_path_factory.mktemp("stores"), text.fingerprint, vocab_size=text.vocab_size)
    service = Service(model, stores=stores)
    yield service
    service.close()


@pytest.fixture(autouse=True)
def own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the stores and measurements of whoever runs it."""
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "data"))


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Question files that lie beside the project and are no part of it."""
    if not DATA.is_dir():
        pytest.skip("the question files are not beside this project")
    return DATA
