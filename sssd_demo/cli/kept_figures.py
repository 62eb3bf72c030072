"""Where measured figures are kept, and with which command an experiment's can be found again."""

from __future__ import annotations

import argparse
import json
import os
import shlex
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sssd_demo import whole_file
from sssd_demo.errors import UserError

if TYPE_CHECKING:
    from sssd_demo.experiments.figure import Figure

FOLDER = Path("benchmarks/results")
_FILES = ("answers", "held_out", "own", "other")
_OPTIONS = ("store", "method", "s_q", "setting", "preset", "model", "dtype")


def check_place(place: Path, read: Iterable[Path | None]) -> None:
    """Refuses, before any work, a place where a result cannot be kept, or one of the files that are `read`."""
    folder = place.parent
    if not os.path.isdir(folder):  # unlike Path.is_dir, false for a name too long to be one
        raise UserError(f"There is no folder {folder} to keep the result in; please name a file with --out.")
    if os.path.isdir(place):
        raise UserError(f"{place} is a folder; please name a file with --out.")
    if not os.access(folder, os.W_OK):
        raise UserError(f"The folder {folder} cannot be written to; please name a file elsewhere with --out.")
    try:
        whole_file.check_place(place)
    except OSError as error:
        raise UserError(f"The result cannot be kept in {place}: {error.strerror or error}.") from error
    if os.path.exists(place) and any(os.path.exists(file) and file.samefile(place) for file in read if file):
        raise UserError(f"{place} is read, so the result cannot be kept there; please name another file with --out.")


def keep(place: Path, data: dict[str, Any]) -> None:
    """Write `data` to `place` as JSON. Raises `UserError` if that cannot be done; what was there before stays then."""
    try:
        whole_file.write_whole(place, json.dumps(data, indent=1, ensure_ascii=False) + "\n")
    except OSError as error:
        raise UserError(f"Cannot write {place}: {error.strerror or error}.") from error


def check_target(args: argparse.Namespace) -> None:
    """`check_place` of the figures that an experiment is to find."""
    check_place(_place(args), (getattr(args, name, None) for name in _FILES))


def kept(
    args: argparse.Namespace, figures: list[Figure], device: str | None = None, model: str | None = None
) -> dict[str, Any]:
    """Keep every figure: the first in the file asked for, the others beside it, named by what they add.

    Without a `device` and a `model` that decoded, they are this machine and the one that had written the answers.
    """
    from sssd_demo.cpu_name import cpu_name
    from sssd_demo.experiments.figure import Origin

    origin = Origin(device or cpu_name(), model or args.preset, datetime.now(UTC).date().isoformat(), _command(args))
    first = _place(args)
    data, written = [], []
    for figure in figures:
        path = first.with_name(f"{first.stem}{figure.experiment.removeprefix(args.experiment)}{first.suffix}")
        data.append(figure.as_data(origin))
        keep(path, data[-1])
        written.append(str(path))
    return {"written": written, "figures": data}


def _place(args: argparse.Namespace) -> Path:
    return args.out or FOLDER / f"experiment_{args.experiment}.json"


def _command(args: argparse.Namespace) -> str:
    """What to type to find the same again; of a file only its name, since folders differ from machine to machine."""
    words = ["python", "-m", "sssd_demo", "experiment", args.experiment, "--budget", args.budget]
    for name in (*_FILES, *_OPTIONS):
        value = getattr(args, name, None)
        if value is not None:
            words += [f"--{name.replace('_', '-')}", Path(value).name if name in (*_FILES, "model") else str(value)]
    return shlex.join(words)
